import { isFault } from "@slipway/base";
import fc from "fast-check";
import type { Installation } from "../../src/bootstrap/installation/installation.ts";
import { attacked, CHANGES, FULL, ISOLATED, SMALL } from "../../src/bootstrap/installation/testing.ts";

/** Installations of every kind, each with a name: everything set, little set, and each field changed once. Kickstart needs the mirror. */
export const SAMPLES: readonly (readonly [string, Installation])[] = [
  ["everything set", FULL],
  ["little set", { ...SMALL, mirror: FULL.mirror! }],
  ["no way out", ISOLATED],
  ...Object.entries(CHANGES).map(([field, change]) => [`another ${field}`, { ...FULL, ...change }] as const),
];

/** Up to `most` installations with hostile texts that the format takes, with what it makes of them. Always the same. */
export function hostileSamples<T>(
  write: (installation: Installation) => T,
  most: number,
): { installation: Installation; written: T }[] {
  const samples: { installation: Installation; written: T }[] = [];
  for (const installation of fc.sample(attacked, { numRuns: 4000, seed: 6 })) {
    if (samples.length === most) break;
    try {
      samples.push({ installation, written: write(installation) });
    } catch (error) {
      if (!isFault(error, "Invalid")) throw error;
    }
  }
  return samples;
}
