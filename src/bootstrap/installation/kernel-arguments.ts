import { Fault } from "@slipway/base";

/** Linux on x86 keeps this many bytes of command line, its end mark included (`COMMAND_LINE_SIZE`). */
const MAX_BYTES = 2048;

/**
 * The words of an installer's kernel command line, the installer's own before the user's. Throws `Fault` (`Invalid`) for a word that would
 * become several, and when the kernel would cut them off.
 */
export function kernelArguments(words: readonly string[]): readonly string[] {
  for (const word of words)
    if (!/^[\x21-\x7e]+$/.test(word) || /["'\\]/.test(word))
      // What stands behind the sign may be a capability URL.
      throw new Fault(
        "Invalid",
        "kernel arguments",
        `${JSON.stringify(word.split("=")[0])} is not one word without quotes`,
      );
  const bytes = words.reduce((sum, word) => sum + word.length + 1, 0);
  if (bytes > MAX_BYTES)
    throw new Fault("Invalid", "kernel arguments", `they need ${bytes} bytes, the kernel keeps ${MAX_BYTES}`, {
      remedy: "shorten the URLs or leave out arguments",
    });
  return words;
}

/** The card that the machine boots from, as PXELINUX spells it and initramfs-tools and dracut read it. */
export function bootInterface(mac: string): string {
  return `BOOTIF=01-${mac.replaceAll(":", "-")}`;
}
