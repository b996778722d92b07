#include "dataplane/dynamic_hash.h"

#include <algorithm>

namespace turntable::dataplane {

int DynamicHash::lowest_bit(std::size_t field) const {
  int end = shape_.zeros_behind + shape_.bits;
  for (std::size_t i = 0; i <= field; ++i) end -= shape_.fields[i].width;
  return end;
}

std::vector<HashSlice> DynamicHash::slices() const {
  if (slices_) return *slices_;
  std::vector<HashSlice> all;
  for (std::size_t field = 0; field < shape_.fields.size(); ++field)
    all.push_back({field, 0, shape_.fields[field].width, field + 1});
  return all;
}

HashMatrix DynamicHash::matrix(bool rotated) const {
  std::vector<int> message;  // the last bit first
  const auto append = [&](int first, int length) {
    for (int bit = first; bit < first + length; ++bit) message.push_back(bit);
  };
  if (slices_) {
    for (auto slice = slices_->rbegin(); slice != slices_->rend(); ++slice)
      if (slice->order != 0) append(lowest_bit(slice->field) + slice->start_bit, slice->length);
  } else {
    append(shape_.zeros_behind, shape_.bits);
  }
  HashMatrix made(algorithm_, message, (shape_.bits + 7) / 8, shape_.width);
  for (const HashShape::Pair& pair : shape_.pairs) {
    for (int bit = 0; bit < pair.width; ++bit)
      made.add_symmetry(pair.first + bit, pair.second + bit, /*both=*/false);
  }
  for (std::size_t i = 1; slices_ && i < slices_->size(); ++i) {
    const HashSlice& one = (*slices_)[i - 1];
    const HashSlice& other = (*slices_)[i];
    if (one.order != other.order || one.order == 0) continue;
    for (int bit = 0; bit < one.length; ++bit) {
      made.add_symmetry(lowest_bit(one.field) + one.start_bit + bit,
                        lowest_bit(other.field) + other.start_bit + bit, /*both=*/true);
    }
  }
  if (seed_) made.set_seed(*seed_);
  if (rotated) made.rotate(shape_.used_low, shape_.used_bits, rotation_);
  made.finish();
  return made;
}

std::uint64_t DynamicHash::value_of(std::span<const std::uint64_t> words) const {
  return matrix_ != nullptr ? matrix_->of(words) : matrix(/*rotated=*/true).of(words);
}

std::uint64_t DynamicHash::seed() const {
  return matrix(/*rotated=*/false).seed();
}

void DynamicHash::set_slices(std::vector<HashSlice> slices) {
  std::stable_sort(slices.begin(), slices.end(), [](const HashSlice& one, const HashSlice& other) {
    return one.order < other.order;
  });
  slices_ = std::move(slices);
  changed();
}

void DynamicHash::reset_slices() {
  slices_.reset();
  changed();
}

void DynamicHash::set_algorithm(HashAlgorithm algorithm, int rotation) {
  algorithm_ = std::move(algorithm);
  rotation_ = rotation;
  seed_.reset();
  has_own_algorithm_ = false;
  changed();
}

void DynamicHash::set_seed(std::uint64_t seed) {
  seed_ = seed;
  changed();
}

void DynamicHash::reset_algorithm() {
  algorithm_ = own_algorithm_;
  rotation_ = 0;
  seed_.reset();
  has_own_algorithm_ = true;
  changed();
}

void DynamicHash::changed() {
  const bool is_own = !slices_ && has_own_algorithm_ && !seed_;
  matrix_ = is_own ? nullptr : std::make_unique<const HashMatrix>(matrix(/*rotated=*/true));
}

}  // namespace turntable::dataplane
