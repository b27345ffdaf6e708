/* exp, log, pow.
 *
 * Enters: any double. Leaves: a result within 0.6 ulp; the special values of C99 F.10.3.1, F.10.3.7 and F.10.4.4.
 *
 * Method: tables and short polynomials (P. T. P. Tang, ACM TOMS 15(2), 1989, and 16(4), 1990), arranged so that
 * nothing but +, -, * is needed and every product that must be exact is one.
 *
 *   exp: x = (n + r) ln2 / 256 with an integer n and |r| <= 0.52. Then e^x = 2^(n/256) 2^(r/256), the first from a
 *   table of 2^(i/256) = T (1 + t) and the exponent bits, the second by a polynomial. x 256/ln2 is formed as a sum
 *   whose leading part, of at most 53 bits, is exact; so n and the leading part of r come without cancellation error.
 *
 *   log: x = 2^k z with z around 1, in one of 128 bins (2^-7 wide above 1, 2^-8 below). Each bin has an approximation
 *   c of 1/z with so few bits that r = z c - 1, |r| < 0.00587, is a double exactly. log x = k ln2 - log c + log(1 +
 *   r); k ln2 - log c is exact in its leading part, a multiple of 2^-42. In the two bins at 1, c = 1, which keeps
 *   full relative accuracy there.
 *
 *   pow: x^y = 2^((y 256/ln2) log x / 256) with log x to about 2^-67 relative: r^2/2 too is exact in its leading
 *   part, since r is known as a sum of 26 bits and a rest. The product is again exact in its leading part.
 *
 * Coefficients: Sollya's fpminimax with double coefficients, absolute error, of
 *   (2^(r/256) - 1)/r on |r| <= 0.52, error 5.8e-18 in 2^(r/256);
 *   (log(1 + r) - r + r^2/2)/r^3 on |r| <= 0.0059, error 1.2e-20 (log) and 3.1e-23 (pow) in log(1 + r).
 * Tables: mpmath at 1600 bits, rounded to nearest. */
#include <stdint.h>

#include "kernel/double_parts.h"
#include "kernel/elementary.h"

/* 2^(i/256) = T (1 + tail). Of T, tk_exp_start has the bits less i << 44; adding n << 44 for n = 256 k + i gives
 * those of 2^k T. */
/* clang-format off */
static const double tk_exp_start[256] = {
    0x1p+0, 0x1.ffb1afa5abcbfp-1, 0x1.ff63da9fb3335p-1, 0x1.ff168143b0281p-1,
    0x1.fec9a3e778061p-1, 0x1.fe7d42e11bbccp-1, 0x1.fe315e86e7f85p-1, 0x1.fde5f72f654b1p-1,
    0x1.fd9b0d3158574p-1, 0x1.fd50a0e3c1f89p-1, 0x1.fd06b29ddf6dep-1, 0x1.fcbd42b72a836p-1,
    0x1.fc74518759bc8p-1, 0x1.fc2bdf66607ep-1, 0x1.fbe3ecac6f383p-1, 0x1.fb9c79b1f3919p-1,
    0x1.fb5586cf9890fp-1, 0x1.fb0f145e46c85p-1, 0x1.fac922b7247f7p-1, 0x1.fa83b23395decp-1,
    0x1.fa3ec32d3d1a2p-1, 0x1.f9fa55fdfa9c5p-1, 0x1.f9b66affed31bp-1, 0x1.f973028d7233ep-1,
    0x1.f9301d0125b51p-1, 0x1.f8edbab5e2ab6p-1, 0x1.f8abdc06c31ccp-1, 0x1.f86a814f204abp-1,
    0x1.f829aaea92dep-1, 0x1.f7e95934f312ep-1, 0x1.f7a98c8a58e51p-1, 0x1.f76a45471c3c2p-1,
    0x1.f72b83c7d517bp-1, 0x1.f6ed48695bbcp-1, 0x1.f6af9388c8deap-1, 0x1.f672658375d2fp-1,
    0x1.f635beb6fcb75p-1, 0x1.f5f99f8138a1cp-1, 0x1.f5be084045cd4p-1, 0x1.f582f95281c6bp-1,
    0x1.f54873168b9aap-1, 0x1.f50e75eb44027p-1, 0x1.f4d5022fcd91dp-1, 0x1.f49c18438ce4dp-1,
    0x1.f463b88628cd6p-1, 0x1.f42be3578a819p-1, 0x1.f3f49917ddc96p-1, 0x1.f3bdda27912d1p-1,
    0x1.f387a6e756238p-1, 0x1.f351ffb82140ap-1, 0x1.f31ce4fb2a63fp-1, 0x1.f2e85711ece75p-1,
    0x1.f2b4565e27cddp-1, 0x1.f280e341ddf29p-1, 0x1.f24dfe1f56381p-1, 0x1.f21ba7591bb7p-1,
    0x1.f1e9df51fdee1p-1, 0x1.f1b8a66d10f13p-1, 0x1.f187fd0dad99p-1, 0x1.f157e39771b2fp-1,
    0x1.f1285a6e4030bp-1, 0x1.f0f961f641589p-1, 0x1.f0cafa93e2f56p-1, 0x1.f09d24abd886bp-1,
    0x1.f06fe0a31b715p-1, 0x1.f0432edeeb2fdp-1, 0x1.f0170fc4cd831p-1, 0x1.efeb83ba8ea32p-1,
    0x1.efc08b26416ffp-1, 0x1.ef96266e3fa2dp-1, 0x1.ef6c55f929ff1p-1, 0x1.ef431a2de883bp-1,
    0x1.ef1a7373aa9cbp-1, 0x1.eef26231e754ap-1, 0x1.eecae6d05d866p-1, 0x1.eea401b7140efp-1,
    0x1.ee7db34e59ff7p-1, 0x1.ee57fbfec6cf4p-1, 0x1.ee32dc313a8e5p-1, 0x1.ee0e544ede173p-1,
    0x1.edea64c123422p-1, 0x1.edc70df1c5175p-1, 0x1.eda4504ac801cp-1, 0x1.ed822c367a024p-1,
    0x1.ed60a21f72e2ap-1, 0x1.ed3fb2709468ap-1, 0x1.ed1f5d950a897p-1, 0x1.ecffa3f84b9d4p-1,
    0x1.ece086061892dp-1, 0x1.ecc2042a7d232p-1, 0x1.eca41ed1d0057p-1, 0x1.ec86d668b3237p-1,
    0x1.ec6a2b5c13cdp-1, 0x1.ec4e1e192aed2p-1, 0x1.ec32af0d7d3dep-1, 0x1.ec17dea6db7d7p-1,
    0x1.ebfdad5362a27p-1, 0x1.ebe41b817c114p-1, 0x1.ebcb299fddd0dp-1, 0x1.ebb2d81d8abffp-1,
    0x1.eb9b2769d2ca7p-1, 0x1.eb8417f4531eep-1, 0x1.eb6daa2cf6642p-1, 0x1.eb57de83f4eefp-1,
    0x1.eb42b569d4f82p-1, 0x1.eb2e2f4f6ad27p-1, 0x1.eb1a4ca5d920fp-1, 0x1.eb070dde910d2p-1,
    0x1.eaf4736b527dap-1, 0x1.eae27dbe2c4cfp-1, 0x1.ead12d497c7fdp-1, 0x1.eac0827ff07ccp-1,
    0x1.eab07dd485429p-1, 0x1.eaa11fba87a03p-1, 0x1.ea9268a5946b7p-1, 0x1.ea84590998b93p-1,
    0x1.ea76f15ad2148p-1, 0x1.ea6a320dceb71p-1, 0x1.ea5e1b976dc09p-1, 0x1.ea52ae6cdf6f4p-1,
    0x1.ea47eb03a5585p-1, 0x1.ea3dd1d1929fdp-1, 0x1.ea34634ccc32p-1, 0x1.ea2b9febc8fb7p-1,
    0x1.ea23882552225p-1, 0x1.ea1c1c70833f6p-1, 0x1.ea155d44ca973p-1, 0x1.ea0f4b19e9538p-1,
    0x1.ea09e667f3bcdp-1, 0x1.ea052fa75173ep-1, 0x1.ea012750bdabfp-1, 0x1.e9fdcddd47645p-1,
    0x1.e9fb23c651a2fp-1, 0x1.e9f9298593ae5p-1, 0x1.e9f7df9519484p-1, 0x1.e9f7466f42e87p-1,
    0x1.e9f75e8ec5f74p-1, 0x1.e9f8286ead08ap-1, 0x1.e9f9a48a58174p-1, 0x1.e9fbd35d7cbfdp-1,
    0x1.e9feb564267c9p-1, 0x1.ea024b1ab6e09p-1, 0x1.ea0694fde5d3fp-1, 0x1.ea0b938ac1cf6p-1,
    0x1.ea11473eb0187p-1, 0x1.ea17b0976cfdbp-1, 0x1.ea1ed0130c132p-1, 0x1.ea26a62ff86fp-1,
    0x1.ea2f336cf4e62p-1, 0x1.ea3878491c491p-1, 0x1.ea427543e1a12p-1, 0x1.ea4d2add106d9p-1,
    0x1.ea589994cce13p-1, 0x1.ea64c1eb941f7p-1, 0x1.ea71a4623c7adp-1, 0x1.ea7f4179f5b21p-1,
    0x1.ea8d99b4492edp-1, 0x1.ea9cad931a436p-1, 0x1.eaac7d98a6699p-1, 0x1.eabd0a478580fp-1,
    0x1.eace5422aa0dbp-1, 0x1.eae05bad61778p-1, 0x1.eaf3216b5448cp-1, 0x1.eb06a5e0866d9p-1,
    0x1.eb1ae99157736p-1, 0x1.eb2fed0282c8ap-1, 0x1.eb45b0b91ffc6p-1, 0x1.eb5c353aa2fe2p-1,
    0x1.eb737b0cdc5e5p-1, 0x1.eb8b82b5f98e5p-1, 0x1.eba44cbc8520fp-1, 0x1.ebbdd9a7670b3p-1,
    0x1.ebd829fde4e5p-1, 0x1.ebf33e47a22a2p-1, 0x1.ec0f170ca07bap-1, 0x1.ec2bb4d53fe0dp-1,
    0x1.ec49182a3f09p-1, 0x1.ec674194bb8d5p-1, 0x1.ec86319e32323p-1, 0x1.eca5e8d07f29ep-1,
    0x1.ecc667b5de565p-1, 0x1.ece7aed8eb8bbp-1, 0x1.ed09bec4a2d33p-1, 0x1.ed2c980460ad8p-1,
    0x1.ed503b23e255dp-1, 0x1.ed74a8af46052p-1, 0x1.ed99e1330b358p-1, 0x1.edbfe53c12e59p-1,
    0x1.ede6b5579fdbfp-1, 0x1.ee0e521356ebap-1, 0x1.ee36bbfd3f37ap-1, 0x1.ee5ff3a3c2774p-1,
    0x1.ee89f995ad3adp-1, 0x1.eeb4ce622f2ffp-1, 0x1.eee07298db666p-1, 0x1.ef0ce6c9a8952p-1,
    0x1.ef3a2b84f15fbp-1, 0x1.ef68415b749b1p-1, 0x1.ef9728de5593ap-1, 0x1.efc6e29f1c52ap-1,
    0x1.eff76f2fb5e47p-1, 0x1.f028cf22749e4p-1, 0x1.f05b030a1064ap-1, 0x1.f08e0b79a6f1fp-1,
    0x1.f0c1e904bc1d2p-1, 0x1.f0f69c3f3a207p-1, 0x1.f12c25bd71e09p-1, 0x1.f16286141b33dp-1,
    0x1.f199bdd85529cp-1, 0x1.f1d1cd9fa652cp-1, 0x1.f20ab5fffd07ap-1, 0x1.f244778fafb22p-1,
    0x1.f27f12e57d14bp-1, 0x1.f2ba88988c933p-1, 0x1.f2f6d9406e7b5p-1, 0x1.f33405751c4dbp-1,
    0x1.f3720dcef9069p-1, 0x1.f3b0f2e6d1675p-1, 0x1.f3f0b555dc3fap-1, 0x1.f43155b5bab74p-1,
    0x1.f472d4a07897cp-1, 0x1.f4b532b08c968p-1, 0x1.f4f87080d89f2p-1, 0x1.f53c8eacaa1d6p-1,
    0x1.f5818dcfba487p-1, 0x1.f5c76e862e6d3p-1, 0x1.f60e316c98398p-1, 0x1.f655d71ff6075p-1,
    0x1.f69e603db3285p-1, 0x1.f6e7cd63a8315p-1, 0x1.f7321f301b46p-1, 0x1.f77d5641c0658p-1,
    0x1.f7c97337b9b5fp-1, 0x1.f81676b197d17p-1, 0x1.f864614f5a129p-1, 0x1.f8b333b16ee12p-1,
    0x1.f902ee78b3ff6p-1, 0x1.f953924676d76p-1, 0x1.f9a51fbc74c83p-1, 0x1.f9f7977cdb74p-1,
    0x1.fa4afa2a490dap-1, 0x1.fa9f4867cca6ep-1, 0x1.faf482d8e67f1p-1, 0x1.fb4aaa218851p-1,
    0x1.fba1bee615a27p-1, 0x1.fbf9c1cb6412ap-1, 0x1.fc52b376bba97p-1, 0x1.fcac948dd7274p-1,
    0x1.fd0765b6e454p-1, 0x1.fd632798844f8p-1, 0x1.fdbfdad9cbe14p-1, 0x1.fe1d802243c89p-1,
    0x1.fe7c1819e90d8p-1, 0x1.fedba3692d514p-1, 0x1.ff3c22b8f71f1p-1, 0x1.ff9d96b2a23d9p-1,
};
/* clang-format on */

/* clang-format off */
static const double tk_exp_tail[256] = {
    0.0, -0x1.4e82fc61851acp-55, 0x1.b3b4f1a88bf6ep-54, -0x1.2985dd8521d32p-55,
    -0x1.160139cd8dc5dp-56, 0x1.51e617061bfbdp-57, -0x1.05e7a108766d1p-54, 0x1.45fad437fa426p-55,
    0x1.cd2523567f613p-55, -0x1.54529642b232fp-54, -0x1.bce8023f98efap-55, 0x1.293708ef5c32ep-55,
    0x1.0f74e61e6c861p-57, -0x1.5b9280905b2a4p-54, 0x1.0a3e45b33d399p-54, 0x1.4f31f32c4b7e7p-55,
    0x1.79aa65d837b6dp-54, 0x1.407fb30d0642p-54, 0x1.eb51a92fdeffcp-55, -0x1.a5d04b3b9911bp-54,
    0x1.ebe3d702f9cd1p-60, -0x1.37a01f0739546p-54, -0x1.a033489906e0bp-57, 0x1.b8268b04ef0a5p-55,
    -0x1.556522a2fbd0ep-54, -0x1.ac46e44a2ebccp-54, -0x1.080ef8c4eea55p-58, -0x1.5704e90c9f86p-57,
    -0x1.1c923b9d5f416p-54, -0x1.97cea57e4628p-55, 0x1.0d3e3e95c55afp-55, 0x1.6f01429e2b9d2p-58,
    -0x1.01b15eaa59348p-55, 0x1.e653b2459034bp-57, -0x1.f1ff055de323dp-55, 0x1.2cc7ea345b7dcp-54,
    0x1.b898c3f1353bfp-55, 0x1.57bfb2876ea9ep-54, -0x1.6d99c7611eb26p-54, 0x1.cdc1873af2155p-55,
    0x1.aecf73e3a2f6p-54, -0x1.493684653a131p-54, -0x1.fe782cb86389dp-55, -0x1.8e2899077520ap-54,
    0x1.a6f4144a6c38dp-55, 0x1.120fcd4f59273p-54, 0x1.07a05b0e4047dp-55, 0x1.9b788c188c9b8p-55,
    0x1.68efde3a8a894p-54, 0x1.77afbca90ef84p-55, 0x1.75e18f274487dp-55, 0x1.1512f082876eep-54,
    0x1.0472b981fe7f2p-55, 0x1.a02f0c7d75ec6p-54, -0x1.6b87b3f71085ep-54, -0x1.03297e78260bfp-55,
    0x1.2f7e16d09ab31p-55, -0x1.5b77e5ccd9fbfp-54, -0x1.d219b1a6fbffap-60, -0x1.1e75c40b4251ep-54,
    0x1.b3782720c0ab4p-55, 0x1.8a911f1f7785ap-54, 0x1.e149289cecb8fp-57, -0x1.1e7c998db7dbbp-57,
    0x1.34d754db0abb6p-55, 0x1.5425c11faadf4p-55, 0x1.64201e2ac744cp-55, -0x1.79517a03e2847p-54,
    0x1.fdd395dd3f84ap-55, -0x1.00e2a46da4beep-55, -0x1.6a3803b8e5b04p-55, -0x1.7430803972b34p-55,
    -0x1.24aedcc4b5068p-54, -0x1.54de30ae02d94p-54, -0x1.907f81b512d8ep-54, -0x1.4f2487e1c03ecp-54,
    -0x1.1d1e83e9436d2p-56, 0x1.14a5432fcb2f4p-54, -0x1.91919b3ce1b15p-54, 0x1.9c3bba5562a2fp-56,
    0x1.59f48a72a4c6dp-55, -0x1.5a71612e21658p-55, -0x1.312607a28698ap-54, 0x1.6421f6f1d24d6p-55,
    -0x1.8a78f4817895bp-58, -0x1.348a6815fce65p-54, -0x1.c2c9b67499a1bp-56, 0x1.35c43984d9871p-55,
    0x1.363ed60c2ac11p-59, -0x1.32afc8d9473ap-57, 0x1.666093b0664efp-54, -0x1.5fc5e44de020ep-54,
    0x1.ecce1daa10379p-57, -0x1.ea0148327c42fp-56, 0x1.3ff8e3f0f123p-54, -0x1.a843ad1a88022p-56,
    0x1.690cebb7aafbp-56, 0x1.92ca3bf144e63p-55, 0x1.31dbdeb54e077p-54, -0x1.02c99b04aa8bp-54,
    -0x1.f94340071a38ep-55, 0x1.3e34f67e67118p-56, -0x1.7deccdc93a349p-55, -0x1.5a3b1197ba0fp-56,
    -0x1.8dec6bd0f385fp-56, 0x1.1bd2888075068p-55, -0x1.61246ec7b5cf6p-55, -0x1.96be8ae89ef8fp-55,
    0x1.3350518fdd78ep-54, -0x1.8e6ac90348602p-55, 0x1.b98b72f8a9b05p-56, -0x1.1af7f1365c3acp-54,
    0x1.063e1e21c5409p-54, -0x1.43a3540d1898ap-54, 0x1.4c7855019c6eap-60, -0x1.51f58ddaa809p-54,
    0x1.432e62b64c035p-54, -0x1.2e1648e50a17cp-55, -0x1.ce44a6199769fp-55, 0x1.5f30eda98a575p-54,
    -0x1.c33c53bef4da8p-55, 0x1.17ecda8a72159p-54, -0x1.45378892be9aep-55, -0x1.345f3cee1ae6ep-54,
    -0x1.3cedd78565858p-54, -0x1.5c33fdf910406p-55, 0x1.710aa807e1964p-58, 0x1.1079ab5789604p-55,
    -0x1.3b3efbf5e2228p-54, 0x1.27df161cd7778p-56, -0x1.a12ad8734b982p-57, 0x1.3f9924a05b767p-54,
    -0x1.367efb86da9eep-57, -0x1.7557939a8b5efp-55, -0x1.0dc3d54e08851p-55, 0x1.1ed2f56fa9d1ap-58,
    -0x1.81f647e5a3ecfp-56, -0x1.8e67a9006c909p-55, -0x1.6ee4ac08b7dbp-55, 0x1.6597566977ac8p-55,
    -0x1.619321e55e68ap-55, 0x1.2c0b7028a5c3ap-54, 0x1.09ccb5e09d4d3p-54, 0x1.a30faf49cc78cp-55,
    -0x1.b32dcb94da51dp-56, -0x1.2dad3519d7b5bp-54, 0x1.4ecfd5467c06bp-54, 0x1.7d51410fd15c2p-55,
    0x1.5ebe1abd66c55p-57, -0x1.60a3629969871p-56, -0x1.8a1c52fb3cf42p-55, 0x1.b18c6e3fdef5dp-55,
    -0x1.369b6f13b3734p-54, 0x1.0ec1ddcb1390ap-54, -0x1.05e843a19ff1ep-55, -0x1.22cea4f3afa1ep-58,
    -0x1.4d450d872576ep-54, 0x1.c88549b958471p-56, 0x1.0ad675b0e8ap-54, 0x1.31143962f7877p-54,
    0x1.db72fc1f0eab4p-55, 0x1.3e9e96f112479p-54, -0x1.5b6609cc5e7ffp-57, -0x1.dac42a4a38dfp-55,
    0x1.bf68359f35f44p-56, 0x1.b99dd98b1ed84p-55, -0x1.3091fa71e3d83p-54, -0x1.885ad50cbb75p-56,
    -0x1.da9b88b6c1e29p-58, -0x1.2d5e85f3e0301p-55, -0x1.c23f97c90b959p-57, -0x1.1669428996971p-58,
    -0x1.2434322f4f9aap-54, 0x1.1f2b2c1c4c014p-56, -0x1.5ca6cd7668e4bp-55, -0x1.294f304f166b6p-54,
    0x1.1affc2b91ce27p-56, -0x1.a1e58414c07d3p-55, 0x1.dd235e10a73bbp-57, -0x1.9740b58a20091p-56,
    -0x1.7c50422622263p-55, 0x1.165830a2b96c2p-54, 0x1.b1c86e3e231d5p-55, -0x1.03d5cbe27874bp-54,
    -0x1.1bbd1d3bcbb15p-54, 0x1.986178980fcep-58, 0x1.0cc319cee31d2p-54, -0x1.9472975b1f2a5p-55,
    0x1.469846e735ab3p-55, 0x1.d8157a34b7e7fp-56, -0x1.2dfcd978e9db4p-55, 0x1.c8a4e231ebb7dp-55,
    0x1.c1a7792cb3387p-55, -0x1.88c8d11a142e5p-55, -0x1.07b8f4ad1d9fap-54, 0x1.89c2ea41433c7p-55,
    -0x1.5c3d956dcaebap-58, -0x1.274aedac8ff8p-56, -0x1.0a40e3da6f64p-54, 0x1.5c620ce76df06p-55,
    -0x1.8d6f438ad9334p-57, -0x1.fda52e1b51e41p-55, -0x1.1eee26b588a35p-54, -0x1.2141a7b3e2cd8p-60,
    0x1.4ffd70a5fddcdp-56, -0x1.02899507554e5p-60, -0x1.1bdfbfa9298acp-54, -0x1.0dda2d4c0010cp-55,
    0x1.36eae30af0cb3p-56, -0x1.a007daadf8d68p-55, 0x1.ee3325c9ffd94p-55, 0x1.36909391181d3p-55,
    0x1.4e08fd10959acp-55, -0x1.11cd7dbdf9547p-55, 0x1.3cdaf384e1a67p-57, -0x1.ac28b7bef6621p-56,
    0x1.76b2c6c921968p-57, -0x1.030587207b9e1p-56, -0x1.08a1883ccb5d2p-55, -0x1.cc734592af7fcp-55,
    -0x1.fad5d3ffffa6fp-55, 0x1.7752a44f587e8p-55, -0x1.00dae3875a949p-54, 0x1.5b66fefeef52ep-55,
    0x1.4a385a63d07a7p-56, 0x1.159d9d908a96ep-58, -0x1.2919e2040220fp-55, 0x1.c254d16117a68p-55,
    0x1.e5a50d5c192acp-55, -0x1.d8c329fbd0e03p-55, 0x1.43a59ac016b4bp-55, -0x1.ea6e6fbd5f2a6p-55,
    -0x1.2d52107b43e1fp-55, -0x1.3e8e3eab2cbb4p-57, -0x1.92ab93b470dc9p-55, -0x1.b7966cd0d2cd9p-55,
    0x1.4b604603a88d3p-56, -0x1.76caa4c2ff1cfp-56, 0x1.3c5ec519d7271p-55, -0x1.1d5fc525d994p-55,
    -0x1.ff7128fd391fp-55, 0x1.55cd8aaea3d21p-55, -0x1.dae98e223747dp-55, 0x1.269947c2bed4ap-55,
    0x1.ec3bc41aa2008p-55, -0x1.3b6137e9afe9ep-55, 0x1.42b94c3a9eb32p-55, -0x1.9fa74878ba7c7p-57,
    0x1.a64a931d185eep-55, 0x1.01f3a75ee0efep-54, -0x1.e37bae43be3edp-55, -0x1.16a9ce6ed84fap-58,
    0x1.7893b4d91cd9dp-56, -0x1.99c7db2effc76p-57, 0x1.305c14160cc89p-58, 0x1.4b458677f984p-57,
};
/* clang-format on */

/* Bin i: the inverse c, a multiple of 2^-7 (2^-8 for bins above 1). */
/* clang-format off */
static const double tk_log_inverse[128] = {
    0x1.6cp+0, 0x1.6ap+0, 0x1.68p+0, 0x1.66p+0, 0x1.64p+0, 0x1.62p+0, 0x1.6p+0, 0x1.5ep+0, 0x1.5cp+0, 0x1.5ap+0,
    0x1.58p+0, 0x1.58p+0, 0x1.56p+0, 0x1.54p+0, 0x1.52p+0, 0x1.5p+0, 0x1.4ep+0, 0x1.4cp+0, 0x1.4ap+0, 0x1.4ap+0,
    0x1.48p+0, 0x1.46p+0, 0x1.44p+0, 0x1.42p+0, 0x1.42p+0, 0x1.4p+0, 0x1.3ep+0, 0x1.3cp+0, 0x1.3cp+0, 0x1.3ap+0,
    0x1.38p+0, 0x1.36p+0, 0x1.36p+0, 0x1.34p+0, 0x1.32p+0, 0x1.3p+0, 0x1.3p+0, 0x1.2ep+0, 0x1.2cp+0, 0x1.2cp+0,
    0x1.2ap+0, 0x1.28p+0, 0x1.28p+0, 0x1.26p+0, 0x1.24p+0, 0x1.24p+0, 0x1.22p+0, 0x1.2p+0, 0x1.2p+0, 0x1.1ep+0,
    0x1.1cp+0, 0x1.1cp+0, 0x1.1ap+0, 0x1.1ap+0, 0x1.18p+0, 0x1.16p+0, 0x1.16p+0, 0x1.14p+0, 0x1.14p+0, 0x1.12p+0,
    0x1.12p+0, 0x1.1p+0, 0x1.0ep+0, 0x1.0ep+0, 0x1.0cp+0, 0x1.0cp+0, 0x1.0ap+0, 0x1.0ap+0, 0x1.08p+0, 0x1.08p+0,
    0x1.06p+0, 0x1.06p+0, 0x1.04p+0, 0x1.04p+0, 0x1.02p+0, 0x1p+0, 0x1p+0, 0x1.fcp-1, 0x1.f8p-1, 0x1.f4p-1,
    0x1.fp-1, 0x1.ecp-1, 0x1.eap-1, 0x1.e6p-1, 0x1.e2p-1, 0x1.dep-1, 0x1.dap-1, 0x1.d8p-1, 0x1.d4p-1, 0x1.dp-1,
    0x1.cep-1, 0x1.cap-1, 0x1.c8p-1, 0x1.c4p-1, 0x1.cp-1, 0x1.bep-1, 0x1.bap-1, 0x1.b8p-1, 0x1.b4p-1, 0x1.b2p-1,
    0x1.bp-1, 0x1.acp-1, 0x1.aap-1, 0x1.a6p-1, 0x1.a4p-1, 0x1.a2p-1, 0x1.9ep-1, 0x1.9cp-1, 0x1.9ap-1, 0x1.98p-1,
    0x1.94p-1, 0x1.92p-1, 0x1.9p-1, 0x1.8ep-1, 0x1.8ap-1, 0x1.88p-1, 0x1.86p-1, 0x1.84p-1, 0x1.82p-1, 0x1.8p-1,
    0x1.7ep-1, 0x1.7ap-1, 0x1.78p-1, 0x1.76p-1, 0x1.74p-1, 0x1.72p-1, 0x1.7p-1, 0x1.6ep-1,
};
/* clang-format on */

/* Bin i: -log c = high + low, high a multiple of 2^-42. */
typedef struct tk_log_entry {
  double high;
  double low;
} tk_log_entry;

/* clang-format off */
static const tk_log_entry tk_log_table[128] = {
    {-0x1.686c81e9b1p-2, -0x1.2bb110af84054p-44}, {-0x1.62c82f2b9cp-2, -0x1.e54bdbd7c8a98p-44},
    {-0x1.5d1bdbf581p-2, 0x1.8d6bdc9c7c238p-44}, {-0x1.5767717456p-2, 0x1.64ead9524d7cap-44},
    {-0x1.51aad872ep-2, 0x1.f4bd8db0a7cc1p-44}, {-0x1.4be5f95778p-2, 0x1.d7c92cd9ad824p-44},
    {-0x1.4618bc21c6p-2, 0x1.3d82f484c84ccp-46}, {-0x1.404308686ap-2, -0x1.f8ef43049f7d3p-44},
    {-0x1.3a64c55694p-2, -0x1.7a71cbcd735dp-44}, {-0x1.347dd9a988p-2, 0x1.5594dd4c58092p-45},
    {-0x1.2e8e2bae12p-2, 0x1.67b1e99b72bd8p-45}, {-0x1.2e8e2bae12p-2, 0x1.67b1e99b72bd8p-45},
    {-0x1.2895a13de8p-2, -0x1.a8d7ad24c13fp-44}, {-0x1.22941fbcf8p-2, 0x1.a6976f5eb0963p-44},
    {-0x1.1c898c169ap-2, 0x1.81410e5c62affp-44}, {-0x1.1675cababap-2, -0x1.8380e731f55c4p-44},
    {-0x1.1058bf9ae5p-2, 0x1.4ab9d817d52cdp-44}, {-0x1.0a324e2739p-2, -0x1.c6bee7ef4030ep-47},
    {-0x1.0402594b4dp-2, -0x1.036b89ef42d7fp-48}, {-0x1.0402594b4dp-2, -0x1.036b89ef42d7fp-48},
    {-0x1.fb9186d5e4p-3, 0x1.d572aab993c87p-47}, {-0x1.ef0adcbdc6p-3, 0x1.b26b79c86af24p-45},
    {-0x1.e27076e2bp-3, 0x1.a342c2af0003cp-44}, {-0x1.d5c216b4fcp-3, 0x1.1ba91bbca681bp-45},
    {-0x1.d5c216b4fcp-3, 0x1.1ba91bbca681bp-45}, {-0x1.c8ff7c79aap-3, 0x1.7794f689f8434p-45},
    {-0x1.bc286742d8p-3, -0x1.9ac53f39d121cp-44}, {-0x1.af3c94e80cp-3, 0x1.a4e633fcd9066p-52},
    {-0x1.af3c94e80cp-3, 0x1.a4e633fcd9066p-52}, {-0x1.a23bc1fe2cp-3, 0x1.539cd91dc9f0bp-44},
    {-0x1.9525a9cf46p-3, 0x1.297137d9f158fp-44}, {-0x1.87fa06520cp-3, -0x1.22120401202fcp-44},
    {-0x1.87fa06520cp-3, -0x1.22120401202fcp-44}, {-0x1.7ab890210ep-3, 0x1.bdb9072534a58p-45},
    {-0x1.6d60fe719ep-3, 0x1.bc6e557134767p-44}, {-0x1.5ff3070a7ap-3, 0x1.8586f183bebf2p-44},
    {-0x1.5ff3070a7ap-3, 0x1.8586f183bebf2p-44}, {-0x1.526e5e3a1cp-3, 0x1.790ba37fc5238p-44},
    {-0x1.44d2b6ccb8p-3, 0x1.70cc16135783cp-46}, {-0x1.44d2b6ccb8p-3, 0x1.70cc16135783cp-46},
    {-0x1.371fc201e8p-3, -0x1.ee8779b2d8abcp-44}, {-0x1.29552f82p-3, 0x1.5b967f4471dfcp-44},
    {-0x1.29552f82p-3, 0x1.5b967f4471dfcp-44}, {-0x1.1b72ad52f6p-3, -0x1.e80a41811a396p-45},
    {-0x1.0d77e7cd08p-3, -0x1.cb2cd2ee2f482p-44}, {-0x1.0d77e7cd08p-3, -0x1.cb2cd2ee2f482p-44},
    {-0x1.fec9131dcp-4, 0x1.54555d1ae6607p-44}, {-0x1.e27076e2bp-4, 0x1.a342c2af0003cp-45},
    {-0x1.e27076e2bp-4, 0x1.a342c2af0003cp-45}, {-0x1.c5e548f5bcp-4, -0x1.d0c57585fbe06p-46},
    {-0x1.a926d3a4acp-4, -0x1.563650bd22a9cp-44}, {-0x1.a926d3a4acp-4, -0x1.563650bd22a9cp-44},
    {-0x1.8c345d6318p-4, -0x1.b20f5acb42a66p-44}, {-0x1.8c345d6318p-4, -0x1.b20f5acb42a66p-44},
    {-0x1.6f0d28ae58p-4, 0x1.4b4641b664613p-44}, {-0x1.51b073f06p-4, -0x1.83f69278e686ap-44},
    {-0x1.51b073f06p-4, -0x1.83f69278e686ap-44}, {-0x1.341d7961bcp-4, -0x1.1d0929983761p-44},
    {-0x1.341d7961bcp-4, -0x1.1d0929983761p-44}, {-0x1.16536eea38p-4, 0x1.47c5e768fa309p-46},
    {-0x1.16536eea38p-4, 0x1.47c5e768fa309p-46}, {-0x1.f0a30c0118p-5, 0x1.d599e83368e91p-45},
    {-0x1.b42dd71198p-5, 0x1.c827ae5d6704cp-46}, {-0x1.b42dd71198p-5, 0x1.c827ae5d6704cp-46},
    {-0x1.77458f633p-5, 0x1.181dce586af09p-44}, {-0x1.77458f633p-5, 0x1.181dce586af09p-44},
    {-0x1.39e87b9fe8p-5, -0x1.eafd480ad9015p-44}, {-0x1.39e87b9fe8p-5, -0x1.eafd480ad9015p-44},
    {-0x1.f829b0e78p-6, -0x1.980267c7e09e4p-45}, {-0x1.f829b0e78p-6, -0x1.980267c7e09e4p-45},
    {-0x1.7b91b07d6p-6, 0x1.3b955b602ace4p-44}, {-0x1.7b91b07d6p-6, 0x1.3b955b602ace4p-44},
    {-0x1.fc0a8b0fcp-7, -0x1.f1e7cf6d3a69cp-50}, {-0x1.fc0a8b0fcp-7, -0x1.f1e7cf6d3a69cp-50},
    {-0x1.fe02a6b1p-8, -0x1.9e23f0dda40e4p-46}, {0.0, 0.0},
    {0.0, 0.0}, {0x1.010157588p-7, 0x1.bce251998b506p-44},
    {0x1.020565893p-6, 0x1.611d27c8e8417p-44}, {0x1.8492528c9p-6, -0x1.aa0ba325a0c34p-45},
    {0x1.0415d89e78p-5, -0x1.dddc7f461c516p-44}, {0x1.466aed42ep-5, -0x1.c167375bdfd28p-45},
    {0x1.67c94f2d48p-5, 0x1.dac20827cca0cp-44}, {0x1.aaef2d0fbp-5, 0x1.0fc1a353bb42ep-45},
    {0x1.eea31c0068p-5, 0x1.c3dd83606d891p-44}, {0x1.1973bd1464p-4, 0x1.566d154f930b3p-44},
    {0x1.3bdf5a7d2p-4, -0x1.19bd0ad125895p-44}, {0x1.4d3115d208p-4, -0x1.53a2582f4e1efp-48},
    {0x1.700d30aeacp-4, 0x1.c1e8da99ded32p-49}, {0x1.9335e5d594p-4, 0x1.3115c3abd47dap-45},
    {0x1.a4e7640b1cp-4, -0x1.e42b6b94407c8p-47}, {0x1.c885801bc4p-4, 0x1.646d1c65aacd3p-45},
    {0x1.da72763844p-4, 0x1.a89401fa71733p-46}, {0x1.fe89139dbcp-4, 0x1.56594d82f7a82p-44},
    {0x1.1178e8227ep-3, 0x1.1ef78ce2d07f2p-45}, {0x1.1aa2b7e24p-3, -0x1.1ac38dde3b366p-44},
    {0x1.2d1610c868p-3, 0x1.39d6ccb81b4a1p-47}, {0x1.365fcb015ap-3, -0x1.fd3a0afb9691bp-44},
    {0x1.4913d8333cp-3, -0x1.53e43558124c4p-44}, {0x1.527e5e4a1cp-3, -0x1.4e60b8d4b411dp-44},
    {0x1.5bf406b544p-3, -0x1.27023eb68981cp-46}, {0x1.6f0128b756p-3, 0x1.577390d31ef0fp-44},
    {0x1.7898d85444p-3, 0x1.8e67be3dbaf3fp-44}, {0x1.8beafeb39p-3, -0x1.73d54aae92cd1p-47},
    {0x1.95a5adcf7p-3, 0x1.7f22858a0ff6fp-47}, {0x1.9f6c40708ap-3, -0x1.337d94bcd3f43p-44},
    {0x1.b31d8575bcp-3, 0x1.c794e562a63cbp-44}, {0x1.bd087383bep-3, -0x1.d4bc4595412b6p-45},
    {0x1.c6ffbc6fp-3, 0x1.ee138d3a69d43p-44}, {0x1.d1037f2656p-3, -0x1.84a7e75b6f6e4p-47},
    {0x1.e530effe72p-3, -0x1.fdbdbb13f7c18p-44}, {0x1.ef5ade4ddp-3, -0x1.a211565bb8e11p-51},
    {0x1.f991c6cb3cp-3, -0x1.90d04cd7cc834p-44}, {0x1.01eae5626cp-2, 0x1.a43dcfade85aep-44},
    {0x1.0c42d67616p-2, 0x1.7188b163ceae9p-45}, {0x1.1178e8227ep-2, 0x1.1ef78ce2d07f2p-44},
    {0x1.16b5ccbadp-2, -0x1.23299042d74bfp-44}, {0x1.1bf99635a7p-2, -0x1.1ac89575c2125p-44},
    {0x1.214456d0ecp-2, -0x1.caf0428b728a3p-44}, {0x1.269621134ep-2, -0x1.1b61f10522625p-44},
    {0x1.2bef07cdc9p-2, 0x1.a9cfa4a5004f4p-45}, {0x1.36b6776be1p-2, 0x1.16ecdb0f177c8p-46},
    {0x1.3c25277333p-2, 0x1.83b54b606bd5cp-46}, {0x1.419b423d5fp-2, -0x1.ce379226de3ecp-44},
    {0x1.4718dc271cp-2, 0x1.06c18fb4c14c5p-44}, {0x1.4c9e09e173p-2, -0x1.e20891b0ad8a4p-45},
    {0x1.522ae0738ap-2, 0x1.ebe708164c759p-45}, {0x1.57bf753c8dp-2, 0x1.fadedee5d40efp-46},
};
/* clang-format on */

/* The first bin begins at z = 1 - 76.5 / 256; bits of z are counted from there in bins of 2^45. */
#define TK_LOG_FIRST (0x3ff0000000000000u - (153ull << 44))

#define TK_LN2_HIGH 0x1.62e42fefa38p-1 /* 42 bits: k times it is exact */
#define TK_LN2_LOW 0x1.ef35793c7673p-45
#define TK_STEPS_HIGH 0x1.715476p+8 /* 256/ln2 = high + low, high of 26 bits */
#define TK_STEPS_LOW 0x1.4ae0bf85ddf44p-18

/* (2^(r/256) - 1) scale + scale tail; `scale` is T or 2^k T. */
TK_PART double tk_exp_excess(double r, double scale, double tail) {
  double r2 = r * r;
  double scaled = scale * r;
  double first = 0x1.62e42fefa39d6p-9 + 0x1.ebfbdff82c55fp-19 * r;
  double second = 0x1.c6b09062ae849p-29 + 0x1.3b2ab9099e8d3p-39 * r;
  return (scale * tail + scaled * first) + (scaled * r2) * second;
}

/* 2^((n + r)/256), a normal number; n is the integer in the low bits of `rounded`. */
TK_PART double tk_exp_scaled(double rounded, double r) {
  uint64_t i = tk_bits(rounded) & 255u;
  double scale = tk_scaled(tk_exp_start[i], rounded, 44);
  return scale + tk_exp_excess(r, scale, tk_exp_tail[i]);
}

/* 2^((n + r)/256) for any n, with overflow and with one rounding to a subnormal. */
static TK_COLD double tk_exp_extreme(int64_t n, double r) {
  int64_t i = n & 255;
  int64_t k = (n - i) / 256;
  if (k > 1024) return tk_infinity();
  if (k < -1080) return 0.0;
  double scale = tk_from_bits(tk_bits(tk_exp_start[i]) + ((uint64_t)i << 44));
  double excess = tk_exp_excess(r, scale, tk_exp_tail[i]);
  double value = scale + excess;
  if (k > 0) return value * tk_power_of_two(k - 1) * 2.0;
  if (k > -1022 || (k == -1022 && value >= 1.0)) return value * tk_power_of_two(k);
  /* In units of 2^-1022 the result is below 1; adding 1 rounds it where a subnormal ends. */
  double unit = tk_power_of_two(k + 1022);
  scale *= unit;
  excess *= unit;
  double sum = 1.0 + scale;
  double rest = ((1.0 - sum) + scale) + excess;
  return ((sum + rest) - 1.0) * 0x1p-1022;
}

static TK_COLD double tk_exp_rare(double x) {
  if (x != x) return x + x;
  if (x > 710.0) return tk_infinity();
  if (x < -746.0) return 0.0;
  double high = tk_high(x);
  double leading = high * TK_STEPS_HIGH;
  double n = (leading + TK_ROUNDER) - TK_ROUNDER;
  double r = (leading - n) + ((x - high) * TK_STEPS_HIGH + x * TK_STEPS_LOW);
  return tk_exp_extreme((int64_t)n, r);
}

TK_ENTRY double tk_exp(double x) {
  /* Far from underflow, so that the small terms keep their bits. */
  if (TK_UNLIKELY(!(tk_abs(x) < 650.0))) return tk_exp_rare(x);
  double high = tk_high(x);
  double leading = high * TK_STEPS_HIGH;
  double rounded = leading + TK_ROUNDER;
  double r = (leading - (rounded - TK_ROUNDER)) + ((x - high) * TK_STEPS_HIGH + x * TK_STEPS_LOW);
  return tk_exp_scaled(rounded, r);
}

/* log of the positive normal number with these bits, times 2^shift. */
TK_PART double tk_log_normal(uint64_t bits, double shift) {
  uint64_t offset = bits - TK_LOG_FIRST;
  uint64_t bin = (offset >> 45) & 127u;
  double inverse = tk_log_inverse[bin];
  double z = tk_from_bits(bits - (offset & 0xfff0000000000000u));
  double k = (double)(int32_t)((int64_t)offset >> 52) + shift;
  double z_high = tk_high(z);
  double r = (z_high * inverse - 1.0) + (z - z_high) * inverse;
  double base = k * TK_LN2_HIGH + tk_log_table[bin].high;
  double high = base + r;
  double high_low = (base - high) + r;
  double base_low = k * TK_LN2_LOW + tk_log_table[bin].low;
  double r2 = r * r;
  double r3 = r * r2;
  double first = 0x1.555555555555bp-2 + -0x1.fffffffe5fa26p-3 * r;
  double second = (0x1.99999995c1769p-3 + -0x1.55582f5f94caap-3 * r) + 0x1.2495dd4f5be16p-3 * r2;
  return high + ((((base_low - 0.5 * r2) + r3 * first) + high_low) + (r3 * r2) * second);
}

static TK_COLD double tk_log_rare(double x) {
  if (x != x) return x + x;
  if (x == 0.0) return -tk_infinity();
  if (x < 0.0) return tk_nan();
  if (tk_bits(x) == TK_INFINITY_BITS) return x;
  return tk_log_normal(tk_bits(x * 0x1p54), -54.0);
}

TK_ENTRY double tk_log(double x) {
  uint64_t bits = tk_bits(x);
  if (TK_UNLIKELY(bits - 0x0010000000000000u >= TK_INFINITY_BITS - 0x0010000000000000u)) return tk_log_rare(x);
  return tk_log_normal(bits, 0.0);
}

/* y 256/ln2 log(x) = leading + rest for the positive normal x with these bits, times 2^shift. `leading` is an exact
 * product; the error of the sum is about 2^-66 of it. */
typedef struct tk_exponent {
  double leading;
  double rest;
} tk_exponent;

TK_PART tk_exponent tk_pow_exponent(uint64_t bits, double shift, double y) {
  /* Independent of x: y 256/ln2 = factor_high + factor_low. */
  double y_high = tk_high(y);
  double steps = y_high * TK_STEPS_HIGH;
  double factor_high = tk_high(steps);
  double factor_low = (steps - factor_high) + ((y - y_high) * TK_STEPS_HIGH + y * TK_STEPS_LOW);

  uint64_t offset = bits - TK_LOG_FIRST;
  uint64_t bin = (offset >> 45) & 127u;
  double inverse = tk_log_inverse[bin];
  double z = tk_from_bits(bits - (offset & 0xfff0000000000000u));
  double k = (double)(int32_t)((int64_t)offset >> 52) + shift;
  double z_high = tk_from_bits((tk_bits(z) + 0x4000000u) & 0xfffffffff8000000u); /* nearest: exact next to 1 */
  double r_high = z_high * inverse - 1.0;                                        /* at most 26 bits */
  double r_low = (z - z_high) * inverse;
  double r = r_high + r_low;
  double base = k * TK_LN2_HIGH + tk_log_table[bin].high;
  double base_low = k * TK_LN2_LOW + tk_log_table[bin].low;
  double sum = base + r;
  double sum_low = (base - sum) + r;
  double square = (-0.5 * r_high) * r_high;
  double square_low = (-0.5 * r_low) * (r_high + r);
  double high = sum + square;
  double high_low = (sum - high) + square;
  double r2 = r * r;
  double r3 = r * r2;
  double first = 0x1.5555555555558p-2 + -0x1.000000000000ep-2 * r;
  double second = 0x1.99999996fdd52p-3 + -0x1.555555506ebfep-3 * r;
  double third = 0x1.24955468b1a34p-3 + -0x1.0003a2f35e816p-3 * r;
  double low = ((((base_low + square_low) + sum_low) + r3 * first) + high_low) + (r3 * r2) * (second + r2 * third);

  double log_sum = high + low;
  double log_high = tk_high(log_sum);
  double log_low = (high - log_high) + low;
  tk_exponent e;
  e.leading = factor_high * log_high;
  e.rest = factor_high * log_low + factor_low * log_sum;
  return e;
}

/* 0: y is no integer, 1: odd, 2: even. */
static int tk_integer_kind(double y) {
  double magnitude = tk_abs(y);
  if (!(magnitude < 0x1p53)) return magnitude < tk_infinity() ? 2 : 0;
  if (tk_floor(magnitude) != magnitude) return 0;
  return tk_floor(magnitude * 0.5) * 2.0 == magnitude ? 2 : 1;
}

static TK_COLD double tk_pow_rare(double x, double y) {
  if (x == 1.0 || y == 0.0) return 1.0;
  if (x != x || y != y) return x + y;
  double magnitude = tk_abs(x);
  if (tk_abs(y) == tk_infinity()) {
    if (magnitude == 1.0) return 1.0;
    return (magnitude > 1.0) == (y > 0.0) ? tk_infinity() : 0.0;
  }
  int kind = tk_integer_kind(y);
  int negative = (tk_bits(x) & TK_SIGN_BIT) != 0;
  double sign = negative && kind == 1 ? -1.0 : 1.0;
  if (magnitude == 0.0 || magnitude == tk_infinity()) {
    return sign * ((magnitude == 0.0) == (y > 0.0) ? 0.0 : tk_infinity());
  }
  if (negative && kind == 0) return tk_nan();
  if (magnitude == 1.0) return sign;
  if (tk_abs(y) > 0x1p70) {
    return sign * ((magnitude > 1.0) == (y > 0.0) ? tk_infinity() : 0.0);
  }
  tk_exponent e = magnitude < 0x1p-1022 ? tk_pow_exponent(tk_bits(magnitude * 0x1p54), -54.0, y)
                                        : tk_pow_exponent(tk_bits(magnitude), 0.0, y);
  if (e.leading > 0x1p19) return sign * tk_infinity();
  if (e.leading < -0x1p19) return sign * 0.0;
  double n = (e.leading + TK_ROUNDER) - TK_ROUNDER;
  return sign * tk_exp_extreme((int64_t)n, (e.leading - n) + e.rest);
}

TK_ENTRY double tk_pow(double x, double y) {
  uint64_t bits = tk_bits(x);
  if (TK_UNLIKELY(bits - 0x0010000000000000u >= TK_INFINITY_BITS - 0x0010000000000000u)) return tk_pow_rare(x, y);
  tk_exponent e = tk_pow_exponent(bits, 0.0, y);
  if (TK_UNLIKELY(!(tk_abs(e.leading) < 940.0 * 256.0))) return tk_pow_rare(x, y);
  double rounded = e.leading + TK_ROUNDER;
  double r = (e.leading - (rounded - TK_ROUNDER)) + e.rest;
  return tk_exp_scaled(rounded, r);
}
