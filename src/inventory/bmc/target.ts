import type { Http } from "@slipway/base";
import type { BmcCredentials } from "./bmc.ts";

/** Which certificates of a BMC are accepted. Neither: those that the system trusts. */
export interface BmcTrust {
  /** PEM of the authorities that are trusted in place of the system's. */
  ca?: string;
  /** `disableCertificateVerification` of the host: whoever answers gets the credentials. */
  anyCertificate?: boolean;
}

export interface BmcTarget {
  /** `spec.bmc.address`. */
  address: string;
  credentials: BmcCredentials;
  trust?: BmcTrust;
  /** UUID of the machine, where it is known: another machine behind the address gets no orders. */
  uuid?: string;
}

/** HTTP to BMCs with one kind of trust. */
export type BmcHttp = Http & { close(): Promise<void> };
