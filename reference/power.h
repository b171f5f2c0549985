// theta^e in fp64, correctly rounded but for ties closer than about 2^-90.
#pragma once

namespace assay::reference {

// base > 0, |exponent * log(base)| < 64. The rope recipes fix the bits of the angle, and an angle of 2^24 radians
// shows the last bit of the power.
double power(double base, double exponent);

}  // namespace assay::reference
