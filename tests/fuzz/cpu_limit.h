// What one input may take: so much processor time, whatever else the machine is busy with. libFuzzer's own limit counts
// by the clock; it stays as the last resort against an input that waits for ever.
#pragma once

namespace fuzz {

// From here to the end of its life; an input that takes longer is a finding.
class CpuLimit {
 public:
  explicit CpuLimit(int seconds = 10);
  ~CpuLimit();
  CpuLimit(const CpuLimit&) = delete;
  CpuLimit& operator=(const CpuLimit&) = delete;
};

}  // namespace fuzz
