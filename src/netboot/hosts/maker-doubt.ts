import type { TpmIdentity } from "../tpm/identify.ts";

/** Fingerprints of the authorities whose certificates a TPM needs; undefined: it needs none. */
export type Makers = ReadonlySet<string> | undefined;

/** Why nobody whom the settings name vouches for a TPM, in words that follow a colon; undefined: somebody does, or nobody has to. Pure. */
export function makerDoubt({ certificate }: Pick<TpmIdentity, "certificate">, makers: Makers): string | undefined {
  if (makers === undefined) return undefined;
  if (certificate?.because !== undefined) return `its TPM ${certificate.because}`;
  if (certificate?.authority === undefined)
    return "its TPM's certificate was not checked since tpmAuthorities is set: start the machine again";
  if (makers.has(certificate.authority)) return undefined;
  return `the authority of its TPM's certificate (${certificate.authority}) is not in tpmAuthorities any more`;
}
