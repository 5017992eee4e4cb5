import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { type Clock, closeAll, type Log, type Random } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import { redfishService } from "../../bmc-service/service.ts";
import { answerUnknownMethods } from "../../bmc-service/unknown-methods.ts";
import { createAuthority, issueServer } from "../../pki/authority.ts";
import type { QemuMachine } from "../qemu-machine.ts";
import { LabBmc } from "./lab-bmc.ts";

const run = promisify(execFile);

/** BMCs have a network of their own; the machines' is another. */
const NETWORK = "10.77.1";
const PORT = 443;
const USERNAME = "admin";

/** How a machine's management controller is reached. */
export interface BmcAccess {
  machine: QemuMachine;
  bmc: LabBmc;
  /** `https://10.77.1.1/redfish/v1/Systems/…`. */
  url: string;
  username: string;
  password: string;
}

export interface LabBmcs {
  /** In the order of the machines. */
  list: readonly BmcAccess[];
  /** PEM of the authority that all their certificates are of. */
  authority: string;
  close(): Promise<void>;
}

/** The n-th machine's BMC (from 1): 1 to 254. */
export function bmcAddress(n: number): string {
  return `${NETWORK}.${n}`;
}

/**
 * Gives each machine a management controller of its own that speaks Redfish at an address of its own, with TLS and a new password. To be called in the rack's network
 * namespace. Rejects when an address can't be had; nothing is left open then.
 */
export async function serveBmcs(
  machines: readonly QemuMachine[],
  { clock, random, log }: { clock: Clock; random: Random; log: Log },
): Promise<LabBmcs> {
  const authority = await createAuthority({ commonName: "BMCs of the lab", clock });
  const open: (() => Promise<unknown>)[] = [];
  const list: BmcAccess[] = [];
  try {
    for (const [at, machine] of machines.entries()) {
      const host = bmcAddress(at + 1);
      await run("ip", ["address", "add", `${host}/32`, "dev", "lo"], { env: PATH });
      open.push(() => run("ip", ["address", "delete", `${host}/32`, "dev", "lo"], { env: PATH }));
      const { certificatePem, keyPem } = await issueServer(authority, { commonName: host, hosts: [host], clock });
      const bmc = new LabBmc(machine, { folder: dirname(machine.console.file), clock });
      const password = Buffer.from(random.bytes(18)).toString("base64url");
      const service = redfishService({
        machines: () => [bmc],
        accounts: () => [{ username: USERNAME, password, role: "Administrator" }],
        uuid: machine.spec.uuid,
        ...{ clock, random, log },
      });
      const tls = { cert: certificatePem, key: keyPem };
      const server = await serveHttp(service.handle, { host, port: PORT, tls, guard: answerUnknownMethods, log });
      open.push(() => server.close());
      list.push({
        ...{ machine, bmc, username: USERNAME, password },
        url: `https://${host}/redfish/v1/Systems/${bmc.id}`,
      });
    }
    return { list, authority: authority.certificatePem, close: () => closeAll(open) };
  } catch (error) {
    await closeAll(open);
    throw error;
  }
}

const PATH = { PATH: "/usr/sbin:/sbin:/usr/bin:/bin" };
