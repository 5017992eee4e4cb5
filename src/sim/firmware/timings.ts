import type { Random } from "@slipway/base";

/** How long a machine's stages take, in milliseconds. */
export interface Timings {
  /** Power-on self test, each time the machine starts. */
  postMs: number;
  dhcpMs: number;
  /** Loading the kernel and starting the live system. */
  kernelMs: number;
  installMs: number;
  /** From the disk's boot loader to the services that join the cluster. */
  diskBootMs: number;
  /** Between two attempts to join. */
  joinRetryMs: number;
}

/** Much as on a bare-metal cloud's servers. */
export const METAL_TIMINGS: Timings = {
  postMs: 120_000,
  dhcpMs: 8_000,
  kernelMs: 60_000,
  installMs: 360_000,
  diskBootMs: 180_000,
  joinRetryMs: 15_000,
};

/** A machine that costs no time: for benchmarks of everything else. */
export const NO_TIMINGS: Timings = {
  postMs: 0,
  dhcpMs: 0,
  kernelMs: 0,
  installMs: 0,
  diskBootMs: 0,
  joinRetryMs: 1_000,
};

/** No two machines are equally fast: up to a fifth more or less. */
export function jittered(ms: number, random: Random): number {
  return ms <= 0 ? 0 : Math.round(ms * (0.8 + 0.4 * random.fraction()));
}
