// Compares messages with Arrow C++; compiled and called by main.go.
//
//   messages check FILE   reads the messages that tstore wrote to FILE
//   messages write FILE   writes messages to FILE
//
// FILE is a list of messages, each followed by a text that says what a reader
// must see in it: describe() here and in describe.go. Both are preceded by
// their length, 8 bytes. The last line printed is the number of messages.

#include <arrow/api.h>
#include <arrow/io/api.h>
#include <arrow/ipc/api.h>
#include <arrow/sparse_tensor.h>
#include <arrow/tensor.h>
#include <arrow/util/key_value_metadata.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using arrow::DataType;
using arrow::Tensor;
using std::shared_ptr;
using std::string;
using std::vector;

template <class T>
T ok(arrow::Result<T> result) {
  if (!result.ok()) {
    std::cerr << result.status().ToString() << "\n";
    exit(1);
  }
  return std::move(result).ValueOrDie();
}

void ok(const arrow::Status& status) {
  if (!status.ok()) {
    std::cerr << status.ToString() << "\n";
    exit(1);
  }
}

string hex(const uint8_t* p, int64_t n) {
  const char* digits = "0123456789abcdef";
  string s = "x";
  for (int64_t i = 0; i < n; i++) {
    s += digits[p[i] >> 4];
    s += digits[p[i] & 15];
  }
  return s;
}

string hex(const string& s) { return hex(reinterpret_cast<const uint8_t*>(s.data()), s.size()); }

// The elements of a tensor in row-major order.
string rowMajor(const Tensor& t) {
  int64_t width = t.type()->byte_width();
  string s;
  vector<int64_t> at(t.ndim(), 0);
  for (int64_t k = 0; k < t.size(); k++) {
    int64_t offset = 0;
    for (int d = 0; d < t.ndim(); d++) offset += at[d] * t.strides()[d];
    s.append(reinterpret_cast<const char*>(t.raw_data() + offset), width);
    for (int d = t.ndim() - 1; d >= 0; d--) {
      if (++at[d] < t.shape()[d]) break;
      at[d] = 0;
    }
  }
  return s;
}

template <class V>
void list(std::ostream& out, const char* name, const V& values) {
  out << name;
  for (auto v : values) out << " " << v;
  out << "\n";
}

void array(std::ostream& out, const char* name, const Tensor& t) {
  out << name << " " << t.type()->ToString() << " " << hex(rowMajor(t)) << "\n";
}

void common(std::ostream& out, const char* layout, const DataType& type, const vector<int64_t>& shape, const vector<string>& names) {
  out << "layout " << layout << "\n";
  out << "dtype " << type.ToString() << "\n";
  list(out, "shape", shape);
  vector<string> coded;
  for (auto& name : names) coded.push_back(hex(name));
  list(out, "names", coded);
}

string describe(const arrow::ipc::Message& message) {
  std::ostringstream out;
  if (message.type() == arrow::ipc::MessageType::TENSOR) {
    auto t = ok(arrow::ipc::ReadTensor(message));
    common(out, "dense", *t->type(), t->shape(), t->dim_names());
    list(out, "strides", t->strides());
    out << "data " << hex(rowMajor(*t)) << "\n";
  } else {
    auto s = ok(arrow::ipc::ReadSparseTensor(message));
    const char* layouts[] = {"coo", "csr", "csc", "csf"};
    common(out, layouts[s->format_id()], *s->type(), s->shape(), s->dim_names());
    out << "nnz " << s->non_zero_length() << "\n";
    switch (s->format_id()) {
      case arrow::SparseTensorFormat::COO: {
        auto& x = static_cast<const arrow::SparseCOOIndex&>(*s->sparse_index());
        out << "canonical " << x.is_canonical() << "\n";
        array(out, "indices", *x.indices());
        break;
      }
      case arrow::SparseTensorFormat::CSR: {
        auto& x = static_cast<const arrow::SparseCSRIndex&>(*s->sparse_index());
        array(out, "indptr", *x.indptr());
        array(out, "indices", *x.indices());
        break;
      }
      case arrow::SparseTensorFormat::CSC: {
        auto& x = static_cast<const arrow::SparseCSCIndex&>(*s->sparse_index());
        array(out, "indptr", *x.indptr());
        array(out, "indices", *x.indices());
        break;
      }
      case arrow::SparseTensorFormat::CSF: {
        auto& x = static_cast<const arrow::SparseCSFIndex&>(*s->sparse_index());
        list(out, "axis_order", x.axis_order());
        for (auto& t : x.indptr()) array(out, "indptr", *t);
        for (auto& t : x.indices()) array(out, "indices", *t);
        break;
      }
    }
    out << "data " << hex(s->raw_data(), s->non_zero_length() * s->type()->byte_width()) << "\n";
    out << "dense " << hex(rowMajor(*ok(s->ToTensor()))) << "\n";
  }
  if (auto metadata = message.custom_metadata()) {
    for (int64_t i = 0; i < metadata->size(); i++) {
      out << "metadata " << hex(metadata->key(i)) << " " << hex(metadata->value(i)) << "\n";
    }
  }
  return out.str();
}

shared_ptr<arrow::ipc::Message> parse(const string& bytes, shared_ptr<arrow::Buffer>* keep) {
  *keep = arrow::Buffer::FromString(bytes);
  arrow::io::BufferReader reader(*keep);
  return ok(arrow::ipc::ReadMessage(&reader));
}

int64_t check(const char* file) {
  std::ifstream in(file, std::ios::binary);
  auto next = [&](string* s) {
    int64_t n;
    if (!in.read(reinterpret_cast<char*>(&n), 8)) return false;
    s->resize(n);
    return static_cast<bool>(in.read(s->data(), n));
  };
  int64_t n = 0;
  string bytes, want;
  while (next(&bytes)) {
    if (!next(&want)) {
      std::cerr << file << " ends within a message\n";
      exit(1);
    }
    shared_ptr<arrow::Buffer> keep;
    string got = describe(*parse(bytes, &keep));
    if (got != want) {
      std::cerr << "message " << n << ": tstore wrote\n" << want << "Arrow C++ reads\n" << got;
      exit(1);
    }
    n++;
  }
  return n;
}

// A random number generator with the same numbers everywhere.
std::mt19937_64 numbers(1);

int64_t below(int64_t n) { return static_cast<int64_t>(numbers() % static_cast<uint64_t>(n)); }

// Elements of which about two in three are zero. None is -0.0, with which
// conversions in Arrow C++ do not get on.
string elements(const DataType& type, int64_t n) {
  string s(n * type.byte_width(), '\0');
  for (int64_t i = 0; i < n; i++) {
    if (below(3) != 0) continue;
    double v = static_cast<double>(1 + below(100));
    char* p = s.data() + i * type.byte_width();
    auto put = [&](auto x) { memcpy(p, &x, sizeof x); };
    switch (type.id()) {
      case arrow::Type::FLOAT: put(static_cast<float>(v / 3)); break;
      case arrow::Type::DOUBLE: put(v / 3); break;
      case arrow::Type::HALF_FLOAT: put(static_cast<uint16_t>(v)); break;
      default: p[0] = static_cast<char>(v); break;
    }
  }
  return s;
}

int64_t write(const char* file) {
  std::ofstream out(file, std::ios::binary);
  auto put = [&](const string& s) {
    int64_t n = s.size();
    out.write(reinterpret_cast<char*>(&n), 8);
    out.write(s.data(), n);
  };
  int64_t n = 0;
  auto add = [&](const arrow::SparseTensor& t) {
    auto stream = ok(arrow::io::BufferOutputStream::Create());
    int32_t metadataLength;
    int64_t bodyLength;
    ok(arrow::ipc::WriteSparseTensor(t, stream.get(), &metadataLength, &bodyLength));
    string bytes = ok(stream->Finish())->ToString();
    shared_ptr<arrow::Buffer> keep;
    put(bytes);
    put(describe(*parse(bytes, &keep)));
    n++;
  };
  vector<shared_ptr<DataType>> types = {arrow::int8(), arrow::int16(), arrow::int32(), arrow::int64(), arrow::uint8(),
                                        arrow::uint16(), arrow::uint32(), arrow::uint64(), arrow::float32(), arrow::float64()};
  vector<shared_ptr<DataType>> indices = {arrow::int8(), arrow::int16(), arrow::int32(), arrow::int64(),
                                          arrow::uint8(), arrow::uint16(), arrow::uint32()};
  for (int k = 0; k < 1000; k++) {
    auto type = types[below(types.size())];
    auto index = indices[below(indices.size())];
    vector<int64_t> shape(1 + below(4));
    vector<string> names;
    int64_t size = 1;
    for (auto& d : shape) {
      d = 1 + below(6);
      size *= d;
      if (k % 2) names.push_back("axis " + std::to_string(names.size()));
    }
    auto dense = ok(Tensor::Make(type, arrow::Buffer::FromString(elements(*type, size)), shape, {}, names));
    // Index arrays must be shorter than their type can count.
    if (size * static_cast<int64_t>(shape.size()) > 120) index = arrow::int16();
    add(*ok(arrow::SparseCOOTensor::Make(*dense, index)));
    if (shape.size() == 2) {
      add(*ok(arrow::SparseCSRMatrix::Make(*dense, index)));
      add(*ok(arrow::SparseCSCMatrix::Make(*dense, index)));
    }
    if (shape.size() >= 2) add(*ok(arrow::SparseCSFTensor::Make(*dense, index)));
  }
  return n;
}

int main(int argc, char** argv) {
  string command = argc == 3 ? argv[1] : "";
  if (command == "check") {
    std::cout << check(argv[2]) << "\n";
  } else if (command == "write") {
    std::cout << write(argv[2]) << "\n";
  } else {
    std::cerr << "usage: messages check|write FILE\n";
    return 2;
  }
  return 0;
}
