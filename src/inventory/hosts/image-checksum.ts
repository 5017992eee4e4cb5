import { Fault, type Http } from "@slipway/base";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";

type Image = NonNullable<BareMetalHost["spec"]["image"]>;
type Algorithm = "md5" | "sha256" | "sha512";

const BY_LENGTH: Readonly<Record<number, Algorithm>> = { 32: "md5", 64: "sha256", 128: "sha512" };
/** Lists of the sums of a whole release are not larger. */
const MOST_BYTES = 1024 * 1024;
const TIMEOUT_MS = 30_000;

/**
 * What the image is checked by, as `sha256:…`. A checksum that is an URL names a file with it: the sum alone, or lines as of `sha256sum`, of
 * which the image's name decides. Default algorithm: md5, as in Metal3; `auto`: by the sum's length. Rejects with a `Fault` that names the field.
 */
export async function imageChecksum({ url, checksum, checksumType = "md5" }: Image, http: Http): Promise<string> {
  if (checksum === undefined || checksum === "")
    throw wrong("spec.image.checksum", "an image is only written when it can be checked", "give its checksum");
  const sum = /^https?:\/\//.test(checksum) ? await fetched(checksum, url, http) : checksum.trim();
  if (!/^[0-9a-fA-F]+$/.test(sum))
    throw wrong(
      "spec.image.checksum",
      "it is neither hexadecimal digits nor the URL of a file with them",
      "correct it",
    );
  const algorithm = checksumType === "auto" ? BY_LENGTH[sum.length] : checksumType;
  if (algorithm === undefined || BY_LENGTH[sum.length] !== algorithm) {
    const known = BY_LENGTH[sum.length] ?? "no sum that is known";
    throw wrong(
      "spec.image.checksumType",
      `the checksum has ${sum.length} digits, which is ${known}`,
      `set it to ${known}`,
    );
  }
  return `${algorithm}:${sum.toLowerCase()}`;
}

async function fetched(from: string, image: string, http: Http): Promise<string> {
  const on = "spec.image.checksum";
  const { status, body } = await http({ method: "GET", url: from, timeoutMs: TIMEOUT_MS });
  if (status !== 200) throw new Fault("Unavailable", on, `the server of the checksum's file answered ${status}`);
  if (body.length > MOST_BYTES)
    throw wrong(on, `its file has more than ${MOST_BYTES} bytes`, "give the checksum itself");
  const name = URL.parse(image)?.pathname.split("/").at(-1) ?? "";
  const lines = body.split("\n").map((line) => line.trim());
  const [only] = lines;
  if (only !== undefined && /^[0-9a-fA-F]+$/.test(only)) return only;
  for (const line of lines) {
    const [, sum, file] = /^([0-9a-fA-F]+)\s+[*]?(?:\.\/)?(.+)$/.exec(line) ?? [];
    if (file === name) return sum!;
    const [, tagged, tag] = /^\w+ \((.+)\) = ([0-9a-fA-F]+)$/.exec(line) ?? [];
    if (tagged === name) return tag!;
  }
  throw wrong(on, `its file does not name ${JSON.stringify(name.slice(0, 128))}`, "give the checksum itself");
}

function wrong(on: string, what: string, remedy: string): Fault {
  return new Fault("Invalid", on, what, { remedy });
}
