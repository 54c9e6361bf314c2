// Every name of the documents' interface is there.
#include <gtest/gtest.h>

#include "hlo/xla.h"

namespace hlo_toolkit {
namespace {

// Functions, types: what is missing does not compile.
namespace named {
#define HLO_METHOD(Name)
#define HLO_FREE(Name) using xla::Name;
#define HLO_NAME(Name) using xla::Name;
#include "tools/library/documented_names.def"
}  // namespace named

// A name is a member of T if a second one of that name makes it ambiguous.
#define HLO_METHOD(Name)                         \
  struct Other_##Name {                          \
    int Name;                                    \
  };                                             \
  template <class T>                             \
  struct Both_##Name : T, Other_##Name {};       \
  template <class T>                             \
  constexpr bool Has_##Name() {                  \
    return !requires { &Both_##Name<T>::Name; }; \
  }
#include "tools/library/documented_names.def"
#define HLO_MEMBER(Class, Name) HLO_METHOD_OF(Name)
#define HLO_METHOD_OF(Name)                      \
  struct Other_##Name {                          \
    int Name;                                    \
  };                                             \
  template <class T>                             \
  struct Both_##Name : T, Other_##Name {};       \
  template <class T>                             \
  constexpr bool Has_##Name() {                  \
    return !requires { &Both_##Name<T>::Name; }; \
  }
#include "tools/library/documented_names.def"

TEST(LibraryNames, BuildersHaveAllOfTheDocuments) {
#define HLO_METHOD(Name)                               \
  EXPECT_TRUE(Has_##Name<xla::XlaBuilder>()) << #Name; \
  EXPECT_TRUE(Has_##Name<xla::ComputationBuilder>()) << #Name;
#define HLO_MEMBER(Class, Name) EXPECT_TRUE(Has_##Name<xla::Class>()) << #Class "::" #Name;
#include "tools/library/documented_names.def"
  // The test itself finds what is missing.
  EXPECT_FALSE(Has_Add<xla::Shape>());
}

}  // namespace
}  // namespace hlo_toolkit
