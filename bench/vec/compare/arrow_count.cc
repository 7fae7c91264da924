// What others.py asks Arrow C++ to count with.

#include <arrow/api.h>
#include <arrow/tensor.h>

#include <string>

// Returns the number of nonzeros among n elements, or a negative number if Arrow C++ can't say.
extern "C" int64_t count_nonzero(const uint8_t* data, int64_t n, const char* dtype) {
  const std::string name(dtype);
  std::shared_ptr<arrow::DataType> type;
  int64_t width = 0;
  if (name == "int8") type = arrow::int8(), width = 1;
  if (name == "int16") type = arrow::int16(), width = 2;
  if (name == "int32") type = arrow::int32(), width = 4;
  if (name == "int64") type = arrow::int64(), width = 8;
  if (name == "float32") type = arrow::float32(), width = 4;
  if (name == "float64") type = arrow::float64(), width = 8;
  if (!type) return -1;
  auto tensor = arrow::Tensor::Make(type, std::make_shared<arrow::Buffer>(data, n * width), {n});
  if (!tensor.ok()) return -2;
  auto count = (*tensor)->CountNonZero();
  return count.ok() ? *count : -3;
}
