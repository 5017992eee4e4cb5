/** kine on a place, and etcd's calls to it as kube-apiserver makes them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { systemClock } from "@slipway/base";
import { GrpcConnection } from "../../../src/datastores/etcd/grpc.ts";
import { encode, Fields, message } from "../../../src/datastores/etcd/wire.ts";
import { kineEndpoint } from "../../../src/datastores/kine.ts";
import type { Driver, Place } from "../../../src/datastores/place.ts";
import { KeptProcess } from "../../../src/kubernetes/kept-process.ts";
import { freePort } from "../../kubernetes/free-port.ts";
import { findProgram } from "./programs.ts";
import { PATIENT, type Server } from "./stage.ts";

export const NEEDS = ["kine"];
const LOOKS = 300;
const LOOK_MS = 100;

export interface Kine {
  /** Makes a key that is not there yet, and answers with its revision. */
  create(key: string, value: string): Promise<bigint>;
  /** Every key below `/registry/`, but for the one that kine makes for itself, with its value and the revision it was written at. */
  all(): Promise<string[]>;
  stop(): Promise<void>;
}

export async function startKine(t: TestContext, server: Server, place: Place): Promise<Kine> {
  const folder = mkdtempSync(join(tmpdir(), "slipway-kine-"));
  writeFileSync(join(folder, "ca.pem"), server.options.tls!.ca!);
  const port = await freePort();
  const process = new KeptProcess({
    command: findProgram("kine")!,
    args: [
      ...["--endpoint", kineEndpoint(server.options.driver as Exclude<Driver, "etcd">, place, server.options)],
      ...["--listen-address", `127.0.0.1:${port}`, "--metrics-bind-address", "0", "--ca-file", join(folder, "ca.pem")],
    ],
    logFile: join(folder, "log"),
  });
  t.after(async () => {
    await process.stop("KILL");
    rmSync(folder, { recursive: true });
  });
  const endpoint = { host: "127.0.0.1", port, text: `127.0.0.1:${port}` };
  const limits = { clock: systemClock, ms: 20_000, signal: PATIENT };
  const grpc = new GrpcConnection({ endpoints: [endpoint], tls: undefined });
  t.after(() => grpc.close());
  const kine: Kine = {
    async create(key, value) {
      // The key has not been written yet: its revision (target 2, field 6) is 0.
      const absent = Buffer.concat([encode([2, 2], [3, key]), Buffer.of(6 * 8, 0)]);
      const put = message(2, [1, key], [2, value]);
      const body = encode([1, absent], [2, put]);
      const answer = new Fields(await grpc.call("/etcdserverpb.KV/Txn", body, {}, limits));
      if (answer.int64(2) !== 1n) throw new Error(`${key} is there`);
      return answer.messages(1)[0]!.int64(3);
    },
    async all() {
      const body = encode([1, "/registry/"], [2, "/registry0"]);
      const answer = new Fields(await grpc.call("/etcdserverpb.KV/Range", body, {}, limits));
      const lines = answer.messages(2).map((kv) => `${kv.text(1)}=${kv.text(5)}@${kv.int64(3)}`);
      return lines.filter((line) => !line.startsWith("/registry/health="));
    },
    stop: async () => {
      grpc.close();
      await process.stop("TERM");
    },
  };
  for (let look = 0; ; look++) {
    const problem = await kine.all().then(
      () => undefined,
      (error: unknown) => error,
    );
    if (problem === undefined) return kine;
    if (!process.running || look === LOOKS) throw new Error(`kine: ${String(problem)}\n${await process.lastWords()}`);
    await systemClock.sleep(LOOK_MS);
  }
}
