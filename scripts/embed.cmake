# cmake -DOUTPUT=FILE.cc -DHEADER=DIR/FILE.h -DFUNCTION=hlo::NAME -DINPUTS=A|B... -P embed.cmake: the texts of files
# as a C++ source, which defines the function that the header declares.
string(REPLACE "|" ";" INPUTS "${INPUTS}")
set(code "#include \"${HEADER}\"\n\nllvm::ArrayRef<llvm::StringRef> ${FUNCTION}() {\n")
string(APPEND code "  static constexpr llvm::StringRef kTexts[] = {\n")
foreach(input IN LISTS INPUTS)
  file(READ "${input}" text)
  string(APPEND code "R\"embedded(${text})embedded\",\n")
endforeach()
string(APPEND code "};\n  return kTexts;\n}\n")
file(WRITE "${OUTPUT}" "${code}")
