/** The node's Redfish service: one system a virtual machine, over TLS with a certificate of the node's own authority. */
import type { Clock, Log, Random } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import type { Account } from "../../bmc-service/accounts.ts";
import type { ManagedMachine } from "../../bmc-service/machine.ts";
import { redfishService } from "../../bmc-service/service.ts";
import { answerUnknownMethods } from "../../bmc-service/unknown-methods.ts";
import { type Authority, createAuthority, type Issued, issueServer } from "../../pki/authority.ts";
import { isGood } from "../../pki/renewal.ts";
import { keptCertificate } from "../../pki/shelf.ts";
import { markedUuid } from "../node/wish.ts";

export interface NodeRedfishOptions {
  node: string;
  /** Address that it listens at, and that its certificate is for. */
  address: string;
  port: number;
  /** Folder in which the authority is kept. */
  folder: string;
  machines(): readonly ManagedMachine[];
  accounts(): readonly Account[];
  clock: Clock;
  random: Random;
  log: Log;
}

export interface NodeRedfish {
  /** `https://10.0.0.5:8443`. */
  url: string;
  /** PEM of the authority. */
  ca: string;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
/** Certificates are of 90 days, and renewed each month. */
const VALID_DAYS = 90;
const RENEW_MS = 30 * DAY_MS;
/** An authority that ends within a year is replaced at the next start. */
const AUTHORITY_LEFT_MS = 365 * DAY_MS;

/** Serves it until it is closed. Rejects when the address can't be had, or the folder is not this user's alone. */
export async function serveRedfish(options: NodeRedfishOptions): Promise<NodeRedfish> {
  const { node, address, port, clock, random, log, machines, accounts } = options;
  const authority = await keptAuthority(options);
  const issue = async () => {
    const request = { commonName: shortName(node), hosts: [address], clock, validDays: VALID_DAYS };
    const { certificatePem, keyPem } = await issueServer(authority, request);
    return { cert: certificatePem, key: keyPem };
  };
  const service = redfishService({ ...{ machines, accounts, clock, random, log }, uuid: markedUuid("redfish", node) });
  const server = await serveHttp(service.handle, {
    ...{ host: address, port, tls: await issue(), guard: answerUnknownMethods, log, maxConnections: 512 },
    maxPerAddress: 256,
  });
  const renewing = new AbortController();
  const renew = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(RENEW_MS, renewing.signal);
      server.renew(await issue());
    }
  };
  renew().catch((error: unknown) => {
    if (!renewing.signal.aborted) log.error({ error: String(error) }, "the certificate could not be renewed");
  });
  return {
    url: server.url,
    ca: authority.certificatePem,
    async close() {
      renewing.abort();
      await server.close();
    },
  };
}

/** The node's authority, made at the first start. */
async function keptAuthority({ folder, node, clock }: NodeRedfishOptions): Promise<Authority> {
  const isStillGood = (held: Issued): boolean => isGood(held, { now: clock.now(), leftMs: AUTHORITY_LEFT_MS });
  const make = () => createAuthority({ commonName: shortName(`Slipway on ${node}`), clock });
  return await keptCertificate(folder, "ca", isStillGood, make);
}

/** A common name has at most 64 characters. */
function shortName(name: string): string {
  return name.slice(0, 64);
}
