// The entry of a kernel, for each calling convention.
//
// int assay_enter_kernel(kernel, args, frame): keeps the caller's registers and stack pointer, goes to the stack at frame->top, puts
// frame->given into the registers that a callee saves, calls kernel(args), and stores in frame->found what they hold then. Offsets are
// those of KernelStack::Frame. While the kernel runs the canonical frame address is *(*(sp + 512)) and what was pushed: so an exception
// finds its way.

// This file has no C++: an assembler's would need a language more in every build.
#if defined(__x86_64__)
__asm__(R"(
.pushsection .text
.globl assay_enter_kernel
.hidden assay_enter_kernel
.type assay_enter_kernel, @function
assay_enter_kernel:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  pushq %rbx
  .cfi_def_cfa_offset 24
  .cfi_offset %rbx, -24
  pushq %r12
  .cfi_def_cfa_offset 32
  .cfi_offset %r12, -32
  pushq %r13
  .cfi_def_cfa_offset 40
  .cfi_offset %r13, -40
  pushq %r14
  .cfi_def_cfa_offset 48
  .cfi_offset %r14, -48
  pushq %r15
  .cfi_def_cfa_offset 56
  .cfi_offset %r15, -56
  movq %rsp, (%rdx)
  movq 8(%rdx), %rsp
  movq %rdx, 512(%rsp)
  .cfi_escape 0x0f, 7, 0x77, 0x80, 0x04, 0x06, 0x06, 0x23, 56
  movq 32(%rdx), %rbx
  movq 40(%rdx), %rbp
  movq 48(%rdx), %r12
  movq 56(%rdx), %r13
  movq 64(%rdx), %r14
  movq 72(%rdx), %r15
  movq %rdi, %rax
  movq %rsi, %rdi
  call *%rax
  movq 512(%rsp), %rdx
  movq %rbx, 192(%rdx)
  movq %rbp, 200(%rdx)
  movq %r12, 208(%rdx)
  movq %r13, 216(%rdx)
  movq %r14, 224(%rdx)
  movq %r15, 232(%rdx)
  pushfq
  popq 16(%rdx)
  cld
  movq (%rdx), %rsp
  .cfi_def_cfa %rsp, 56
  popq %r15
  .cfi_def_cfa_offset 48
  popq %r14
  .cfi_def_cfa_offset 40
  popq %r13
  .cfi_def_cfa_offset 32
  popq %r12
  .cfi_def_cfa_offset 24
  popq %rbx
  .cfi_def_cfa_offset 16
  popq %rbp
  .cfi_def_cfa_offset 8
  ret
  .cfi_endproc
.size assay_enter_kernel, .-assay_enter_kernel
.popsection
)");
#elif defined(__aarch64__)
__asm__(R"(
.pushsection .text
.globl assay_enter_kernel
.hidden assay_enter_kernel
.type assay_enter_kernel, %function
.p2align 2
assay_enter_kernel:
  .cfi_startproc
  stp x29, x30, [sp, #-160]!
  .cfi_def_cfa_offset 160
  .cfi_offset 29, -160
  .cfi_offset 30, -152
  stp x19, x20, [sp, #16]
  .cfi_offset 19, -144
  .cfi_offset 20, -136
  stp x21, x22, [sp, #32]
  .cfi_offset 21, -128
  .cfi_offset 22, -120
  stp x23, x24, [sp, #48]
  .cfi_offset 23, -112
  .cfi_offset 24, -104
  stp x25, x26, [sp, #64]
  .cfi_offset 25, -96
  .cfi_offset 26, -88
  stp x27, x28, [sp, #80]
  .cfi_offset 27, -80
  .cfi_offset 28, -72
  stp d8, d9, [sp, #96]
  .cfi_offset 72, -64
  .cfi_offset 73, -56
  stp d10, d11, [sp, #112]
  .cfi_offset 74, -48
  .cfi_offset 75, -40
  stp d12, d13, [sp, #128]
  .cfi_offset 76, -32
  .cfi_offset 77, -24
  stp d14, d15, [sp, #144]
  .cfi_offset 78, -16
  .cfi_offset 79, -8
  mov x9, sp
  str x9, [x2]
  ldr x9, [x2, #8]
  mov sp, x9
  str x2, [sp, #512]
  .cfi_escape 0x0f, 8, 0x8f, 0x80, 0x04, 0x06, 0x06, 0x23, 0xa0, 0x01
  ldp x19, x20, [x2, #32]
  ldp x21, x22, [x2, #48]
  ldp x23, x24, [x2, #64]
  ldp x25, x26, [x2, #80]
  ldp x27, x28, [x2, #96]
  ldr x29, [x2, #112]
  ldp d8, d9, [x2, #120]
  ldp d10, d11, [x2, #136]
  ldp d12, d13, [x2, #152]
  ldp d14, d15, [x2, #168]
  mov x9, x0
  mov x0, x1
  blr x9
  ldr x2, [sp, #512]
  stp x19, x20, [x2, #192]
  stp x21, x22, [x2, #208]
  stp x23, x24, [x2, #224]
  stp x25, x26, [x2, #240]
  stp x27, x28, [x2, #256]
  str x29, [x2, #272]
  stp d8, d9, [x2, #280]
  stp d10, d11, [x2, #296]
  stp d12, d13, [x2, #312]
  stp d14, d15, [x2, #328]
  ldr x9, [x2]
  mov sp, x9
  .cfi_def_cfa 31, 160
  ldp d14, d15, [sp, #144]
  ldp d12, d13, [sp, #128]
  ldp d10, d11, [sp, #112]
  ldp d8, d9, [sp, #96]
  ldp x27, x28, [sp, #80]
  ldp x25, x26, [sp, #64]
  ldp x23, x24, [sp, #48]
  ldp x21, x22, [sp, #32]
  ldp x19, x20, [sp, #16]
  ldp x29, x30, [sp], #160
  .cfi_def_cfa_offset 0
  ret
  .cfi_endproc
.size assay_enter_kernel, .-assay_enter_kernel
.popsection
)");
#else
#error "assay_enter_kernel: this architecture's calling convention is not known"
#endif
