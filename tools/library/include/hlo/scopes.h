// What operations get beside their operands, for a scope of the program.
#pragma once
#include <optional>

#include "hlo/builder.h"

namespace hlo_toolkit {

/// While it lives, results in the builder have the sharding (none: no sharding); then what was before. Scopes
/// of no builder do nothing.
class XlaScopedShardingAssignment {
 public:
  XlaScopedShardingAssignment(XlaBuilder* builder, const std::optional<OpSharding>& sharding,
                              Location location = SourceLocation::current());
  XlaScopedShardingAssignment(const XlaScopedShardingAssignment&) = delete;
  XlaScopedShardingAssignment& operator=(const XlaScopedShardingAssignment&) = delete;
  ~XlaScopedShardingAssignment();

 private:
  XlaBuilder* builder_;
  std::optional<OpSharding> before_;
};

/// The same for attributes of frontends.
class XlaScopedFrontendAttributesAssignment {
 public:
  XlaScopedFrontendAttributesAssignment(XlaBuilder* builder, FrontendAttributes attributes,
                                        Location location = SourceLocation::current());
  XlaScopedFrontendAttributesAssignment(const XlaScopedFrontendAttributesAssignment&) = delete;
  XlaScopedFrontendAttributesAssignment& operator=(const XlaScopedFrontendAttributesAssignment&) = delete;
  ~XlaScopedFrontendAttributesAssignment();

 private:
  XlaBuilder* builder_;
  FrontendAttributes before_;
};

/// The same for metadata.
class XlaScopedOpMetadataAssignment {
 public:
  XlaScopedOpMetadataAssignment(XlaBuilder* builder, OpMetadata metadata);
  XlaScopedOpMetadataAssignment(const XlaScopedOpMetadataAssignment&) = delete;
  XlaScopedOpMetadataAssignment& operator=(const XlaScopedOpMetadataAssignment&) = delete;
  ~XlaScopedOpMetadataAssignment();

 private:
  XlaBuilder* builder_;
  std::optional<OpMetadata> before_;
};

}  // namespace hlo_toolkit
