import { type Clock, Fault, type Log, quietLog, systemClock } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import { parseBmcAddress } from "./address.ts";
import type { Bmc } from "./bmc.ts";
import { ipmiBmc } from "./ipmi.ts";
import { RedfishConnection } from "./redfish/connection.ts";
import { redfishBmc } from "./redfish/redfish-bmc.ts";
import { type RunProgram, runProgram } from "./run-program.ts";
import type { BmcHttp, BmcTarget, BmcTrust } from "./target.ts";

export interface BmcsOptions {
  clock?: Clock;
  /** HTTP with a kind of trust. Default: sockets. */
  http?: (trust: BmcTrust) => BmcHttp;
  run?: RunProgram;
  /** Requests to one BMC at one time. Default: 2. */
  places?: number;
  log?: Log;
}

/** A BMC's answers are small, but for the lists of its firmware's settings. */
const MOST_ANSWER_BYTES = 4 * 1024 * 1024;

interface Shared {
  connection: RedfishConnection;
  http: BmcHttp;
  users: number;
}

/** All BMCs of a process. Machines behind one BMC share its connection and session, as long as address, credentials and trust are the same. */
export class Bmcs {
  readonly #options: Required<BmcsOptions>;
  readonly #shared = new Map<string, Shared>();

  constructor({ clock = systemClock, http, run = runProgram, places = 2, log = quietLog }: BmcsOptions = {}) {
    this.#options = { clock, http: http ?? ((trust) => overSockets(clock, trust)), run, places, log };
  }

  /** The BMC of a machine; nothing is sent yet. Throws `Invalid` for an address that can't be read. Whoever opens it closes it. */
  open({ address, credentials, trust = {}, uuid }: BmcTarget): Bmc {
    const where = parseBmcAddress(address);
    const { clock, run } = this.#options;
    if (credentials.username === "")
      throw new Fault("BadCredentials", "BMC credentials", "the user name is empty", {
        remedy: "put username and password into the Secret of credentialsName",
      });
    if (where.protocol === "ipmi") return ipmiBmc({ address: where, credentials, run, clock });
    const key = JSON.stringify([
      where.origin,
      credentials.username,
      credentials.password,
      trust.ca,
      trust.anyCertificate,
    ]);
    const shared = this.#share(key, where.origin, { credentials, trust });
    let isOpen = true;
    return redfishBmc({
      connection: shared.connection,
      clock,
      ...(where.system !== undefined && { system: where.system }),
      ...(uuid !== undefined && { uuid }),
      release: async () => {
        if (!isOpen) return;
        isOpen = false;
        if (--shared.users > 0) return;
        this.#shared.delete(key);
        await shared.connection.close();
        await shared.http.close();
      },
    });
  }

  #share(
    key: string,
    origin: string,
    { credentials, trust }: Required<Pick<BmcTarget, "credentials" | "trust">>,
  ): Shared {
    const known = this.#shared.get(key);
    if (known !== undefined) {
      known.users++;
      return known;
    }
    const { clock, places, log } = this.#options;
    const http = this.#options.http(trust);
    const made = {
      http,
      users: 1,
      connection: new RedfishConnection({ origin, credentials, http, clock, places, log }),
    };
    this.#shared.set(key, made);
    return made;
  }
}

function overSockets(clock: Clock, { ca, anyCertificate }: BmcTrust): BmcHttp {
  return undiciHttp({
    clock,
    connections: 4,
    maxAnswerBytes: MOST_ANSWER_BYTES,
    ...(ca !== undefined && { ca }),
    ...(anyCertificate === true && { anyCertificate }),
  });
}
