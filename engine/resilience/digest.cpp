// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/resilience/digest.hpp>

#include <cstring>
#include <memory>

#include <openssl/evp.h>
#define XXH_INLINE_ALL  // compiled as this file is, which is half as fast again as the library's
#include <xxhash.h>

#include <weir/engine/model/check.hpp>

namespace weir {

Digest digest_of(std::initializer_list<std::span<const std::byte>> parts) {
  XXH128_hash_t hash;
  if (parts.size() == 1) {
    hash = XXH3_128bits(parts.begin()->data(), parts.begin()->size());
  } else {
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_128bits_reset(&state);
    for (const auto part : parts) XXH3_128bits_update(&state, part.data(), part.size());
    hash = XXH3_128bits_digest(&state);
  }
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  Digest digest;
  std::memcpy(digest.data(), canonical.digest, digest.size());
  return digest;
}

struct Sha256::State {
  EVP_MD* algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() {
    EVP_MD_CTX_free(context);
    EVP_MD_free(algorithm);
  }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  WEIR_EXPECT(state_->algorithm != nullptr && state_->context != nullptr, internal,
              "the system's libcrypto has no SHA-256");
}

Sha256::~Sha256() = default;

Hash Sha256::operator()(std::initializer_list<std::span<const std::byte>> parts) {
  Hash hash;
  bool is_good = EVP_DigestInit_ex2(state_->context, state_->algorithm, nullptr) == 1;
  for (const auto part : parts)
    is_good = is_good && EVP_DigestUpdate(state_->context, part.data(), part.size()) == 1;
  is_good =
      is_good && EVP_DigestFinal_ex(state_->context, reinterpret_cast<unsigned char*>(hash.data()),
                                    nullptr) == 1;
  WEIR_EXPECT(is_good, internal, "libcrypto failed to compute SHA-256");
  return hash;
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += digits[std::to_integer<std::size_t>(byte >> 4)];
    text += digits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

bool parse_hexadecimal(std::string_view text, std::span<std::byte> bytes) {
  if (text.size() != 2 * bytes.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    unsigned digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<unsigned>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<unsigned>(c - 'a' + 10);
    } else if (c >= 'A' && c <= 'F') {
      digit = static_cast<unsigned>(c - 'A' + 10);
    } else {
      return false;
    }
    const auto nibble = static_cast<std::byte>(digit);
    bytes[i / 2] = i % 2 == 0 ? nibble << 4 : bytes[i / 2] | nibble;
  }
  return true;
}

}  // namespace weir
