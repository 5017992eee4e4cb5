import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { privateFile, privateFolder, replacePrivateFile } from "@slipway/base";
import type { Issued } from "./authority.ts";

/**
 * The certificate and key `<name>.pem` and `<name>-key.pem` of a folder; what is there is given to `make` when it no longer does (empty texts: there was
 * none) and replaced. Without a folder nothing is kept. Rejects when the folder can't be written or is not ours
 * alone (`privateFolder`).
 */
export async function keptCertificate(
  shelf: string | undefined,
  name: string,
  isStillGood: (held: Issued) => boolean,
  make: (held: Issued) => Promise<Issued>,
): Promise<Issued> {
  const certificateFile = join(shelf ?? "", `${name}.pem`);
  const keyFile = join(shelf ?? "", `${name}-key.pem`);
  if (shelf !== undefined) {
    privateFolder(shelf);
    for (const file of [certificateFile, keyFile]) privateFile(file, { ifThere: true });
  }
  const [certificatePem, keyPem] =
    shelf === undefined ? ["", ""] : [await textOf(certificateFile), await textOf(keyFile)];
  const held = { certificatePem, keyPem };
  if (shelf !== undefined && isStillGood(held)) return held;
  const made = await make(held);
  if (shelf !== undefined) {
    // A crash in between leaves two that don't belong together: they are made anew next time.
    await replacePrivateFile(keyFile, made.keyPem);
    await replacePrivateFile(certificateFile, made.certificatePem);
  }
  return made;
}

/** Empty when there is no such file. */
export async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
