import { type Code, Fault } from "@slipway/base";

/** What ssh(1) prints, and what it means. The first that matches. */
const MEANINGS: readonly { words: RegExp; code: Code; message: string; remedy: string }[] = [
  {
    words: /REMOTE HOST IDENTIFICATION HAS CHANGED|host key for .* has changed/i,
    code: "UntrustedCertificate",
    message: "it shows another host key than the one that is recorded",
    remedy:
      "if the machine was installed anew, forget the recorded key (slipway parlay --forget HOST); else another machine answers in its place",
  },
  {
    words: /host key is known for|Host key verification failed/i,
    code: "UntrustedCertificate",
    message: "no host key is recorded for it",
    remedy: "record the key that it shows with --accept-new, or put it into the file of known hosts",
  },
  {
    words: /Permission denied|Too many authentication failures/i,
    code: "BadCredentials",
    message: "it takes none of the keys",
    remedy: "name the user and the private key that it knows",
  },
  {
    words: /UNPROTECTED PRIVATE KEY|bad permissions|invalid format|error in libcrypto|Load key/i,
    code: "MissingInput",
    message: "the private key can't be read",
    remedy: "name a key without a passphrase that is yours alone",
  },
];

/** Why ssh(1) has not connected. */
export function refusalOf(host: string, errors: string): Fault {
  const known = MEANINGS.find(({ words }) => words.test(errors));
  if (known !== undefined) return new Fault(known.code, host, known.message, { remedy: known.remedy });
  const last = errors.trim().split("\n").at(-1) ?? "";
  const said = last.replaceAll(/[^\x20-\x7e]/g, " ").slice(0, 200);
  return new Fault("Unavailable", host, said === "" ? "no connection" : `no connection: ${said}`);
}
