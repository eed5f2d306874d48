// Memory that is aligned for vector code, kept between uses, and never smaller than before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

#include "base/types.hpp"

namespace selica {

template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(Index size) { reserve(size); }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { release(); }

  // Makes room for `size` entries; what was there is lost if it has to move.
  T* reserve(Index size) {
    if (size > size_) {
      release();
      data_ = allocate(size);
      size_ = size;
    }
    return data_;
  }

  // Makes room for `size` entries and keeps the first `used` of them; the rest become zero.
  T* grow(Index used, Index size) {
    const bool larger = size > size_;
    extend(used, size);
    if (larger) std::fill(data_ + used, data_ + size, T{});
    return data_;
  }

  // Makes room for `size` entries and keeps the first `used` of them; the rest are undefined.
  T* extend(Index used, Index size) {
    if (size > size_) {
      T* larger = allocate(size);
      if (used > 0) std::memcpy(larger, data_, static_cast<std::size_t>(used) * sizeof(T));
      release();
      data_ = larger;
      size_ = size;
    }
    return data_;
  }

  // Makes room for `size` zeros.
  T* zeros(Index size) {
    reserve(size);
    std::fill_n(data_, size, T{});
    return data_;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](Index i) { return data_[i]; }
  const T& operator[](Index i) const { return data_[i]; }
  Index size() const { return size_; }

 private:
  static constexpr std::align_val_t kAlignment{64};

  static T* allocate(Index size) {
    return static_cast<T*>(
        ::operator new(static_cast<std::size_t>(std::max<Index>(size, 1)) * sizeof(T), kAlignment));
  }
  void release() {
    if (data_ != nullptr) ::operator delete(data_, kAlignment);
    data_ = nullptr;
    size_ = 0;
  }

  T* data_ = nullptr;
  Index size_ = 0;
};

}  // namespace selica
