import { spawn } from "node:child_process";
import { Fault } from "@slipway/base";

/** Turns a qcow2 file into a raw one. Rejects with a `Fault`; what was written of `to` by then is the caller's to remove. */
export type Convert = (from: string, to: string, signal?: AbortSignal) => Promise<void>;

const MOST_SAID = 2_000;

/** Converts by `qemu-img`, which ends with the signal. */
export function qemuImg(program = "qemu-img"): Convert {
  return (from, to, signal) =>
    new Promise((resolve, reject) => {
      const child = spawn(program, ["convert", "-f", "qcow2", "-O", "raw", "--", from, to], {
        stdio: ["ignore", "ignore", "pipe"],
        ...(signal === undefined ? {} : { signal }),
      });
      let said = "";
      child.stderr.on("data", (text: Buffer) => {
        said = (said + text.toString()).slice(-MOST_SAID);
      });
      child.once("error", (cause: NodeJS.ErrnoException) => {
        if (cause.code !== "ENOENT") return reject(cause);
        const remedy =
          "install it (Debian: apt-get install qemu-utils), or give the image as raw, raw.gz, raw.xz or raw.zst";
        reject(new Fault("MissingInput", program, "is not installed, and qcow2 images need it", { remedy, cause }));
      });
      child.once("close", (code) => {
        if (code === 0) resolve();
        else
          reject(
            new Fault("Invalid", "qcow2 image", `can't be converted: ${said.trim() || `qemu-img ended with ${code}`}`),
          );
      });
    });
}
