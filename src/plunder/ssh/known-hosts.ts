import { readFile } from "node:fs/promises";
import { privateFile, replacePrivateFile } from "@slipway/base";

/** How the file names a host (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT"). */
function nameIn(host: string, port: number): string {
  return port === 22 ? host : `[${host}]:${port}`;
}

/** Forgets the recorded keys of a host, as after an installation, which makes new ones. False: none is recorded. */
export async function forgetHost(file: string, host: string, port = 22): Promise<boolean> {
  privateFile(file);
  const lines = (await readFile(file, "utf8")).split("\n");
  const name = nameIn(host, port).toLowerCase();
  const left = lines.filter((line) => !(line.split(/\s/, 1)[0] ?? "").toLowerCase().split(",").includes(name));
  if (left.length === lines.length) return false;
  await replacePrivateFile(file, left.join("\n"));
  return true;
}
