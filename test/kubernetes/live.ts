/**
 * Slipway in real time on a real cluster: the operator as processes of its own, with the account and the rights that `deploy/` ships;
 * the metal and the Harvester site are simulated in the test's process. Machines reach whichever replica answers, as through a Service.
 */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock as clock, plain, quietLog, cryptoRandom as random } from "@slipway/base";
import { undiciHttp } from "@slipway/base/http-client";
import { serveHttp } from "@slipway/base/http-server";
import { Lease, Secret } from "@slipway/kube/core";
import { loadConnection } from "@slipway/kube/http";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { EXAMPLE_KEYS, type SimulatedMetal, startMetal } from "../../src/laptop/metal.ts";
import { kubeconfig } from "../../src/pki/kubeconfig.ts";
import { counterpart } from "../../src/systems/harvester/simulated.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { operatorToken, prepare } from "./operator-account.ts";
import { forward, Replica } from "./replica.ts";
import { CONTROLLERS } from "./stage.ts";

const SITE = { vip: "10.20.30.40", joinToken: "join-token-of-the-live-test" };
const SPEED = 2000;
const LOOK_MS = 100;

export interface Live {
  cluster: Cluster;
  metal: SimulatedMetal;
  /** Starts one more replica; resolves once its caches are filled. */
  operator(...more: string[]): Promise<Replica>;
  /** Who holds the system's Lease: a replica's `identity`, or "". */
  leader(): Promise<string>;
  scale(count: number): Promise<void>;
  /** Until the pool has so many machines, all in service, and the cloud no others. */
  whole(count: number): Promise<void>;
  /** How things stand, for the person who reads a failed test. */
  story(): Promise<string>;
  close(): Promise<void>;
}

/** `apiServer`: another binary than today's. */
export async function startLive(of: { apiServer?: string } = {}): Promise<Live> {
  const cluster = await startCluster({ ...of, controllers: CONTROLLERS });
  const { client, plane } = cluster;
  await prepare(cluster);
  const { token, project } = EXAMPLE_KEYS.equinix;
  const secret = { name: "equinix-addon", namespace: "harvester-system" };
  const stringData = { METAL_AUTH_TOKEN: token, PROJECT_ID: project.id };
  await client.create(Secret, { metadata: secret, stringData });
  const http = undiciHttp({});
  const metal = await startMetal({
    client,
    clock,
    random,
    log: quietLog,
    http,
    speed: SPEED,
    ...SITE,
    counterparts: [counterpart],
    dir: undefined,
  });
  const replicas: Replica[] = [];
  const service = await serveHttp((request) => forward(request, replicas, http));

  const { server, ca } = await loadConnection({ kubeconfig: plane.kubeconfigFile, env: {}, clock });
  const account = join(plane.dir, "operator.kubeconfig");
  const caPem = ca === undefined ? {} : { caPem: ca };
  await writeFile(account, kubeconfig({ name: "operator", server, ...caPem, token: await operatorToken(cluster) }), {
    mode: 0o600,
  });

  const story = async (): Promise<string> => {
    const objects = [...(await client.list(InstancePool)).items, ...(await client.list(Instance)).items];
    const lines = objects.map(({ kind, metadata, status }) => {
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      return `${kind} ${metadata.name}: ${status?.status} ${ready?.reason}: ${ready?.message}`;
    });
    return [...lines, ...(replicas.at(-1)?.said.slice(-10) ?? [])].join("\n");
  };
  return {
    cluster,
    metal,
    async operator(...more) {
      const { port } = await free();
      // biome-ignore format: pairs of name and value
      const args = ["--kubeconfig", account, "--boot-url", service.url, "--boot-listen", `127.0.0.1:${port}`,
        "--health-listen", "127.0.0.1:0", "--poll-interval", "0.2", ...more];
      const replica = new Replica(args, { TOKEN: SITE.joinToken, EQUINIX_ENDPOINT: metal.equinix.url }, port);
      replicas.push(replica);
      await replica.started;
      return replica;
    },
    async leader() {
      const lease = await client.find(Lease, { namespace: "harvester-system", name: "slipway-harvester" });
      return (lease?.spec?.holderIdentity ?? "").replace(/_[^_]*$/, "");
    },
    async scale(count) {
      if ((await client.find(InstancePool, { name: "rack" })) !== undefined) {
        await client.patch(InstancePool, { name: "rack" }, { type: "merge", body: { spec: { count } } });
        return;
      }
      const spec = { plan: "c3.small.x86", metro: "SG", billingCycle: "hourly", count };
      await client.create(InstancePool, { metadata: { name: "rack" }, spec });
    },
    whole: (count) =>
      until(
        `the pool has ${count} machines in service`,
        async () => {
          const instances = (await client.list(Instance)).items;
          const managed = instances.filter(({ status }) => status?.status === "managed");
          const machines = metal.equinix.sim.devices();
          return managed.length === count && instances.length === count && machines.length === count;
        },
        180_000,
        story,
      ),
    story,
    async close() {
      for (const replica of replicas) await replica.end("SIGKILL");
      await service.close();
      await metal.close();
      await http.close();
      await cluster.close();
    },
  };
}

/** Awaits what is polled; the error shows what was missing and how things stood. */
export async function until(
  what: string,
  holds: () => Promise<boolean> | boolean,
  forMs: number,
  story: () => Promise<string> | string = () => "",
): Promise<void> {
  const end = clock.now() + forMs;
  while (!(await holds())) {
    if (clock.now() > end) throw new Error(`not within ${forMs / 1000} s: ${what}\n${await story()}`);
    await clock.sleep(LOOK_MS);
  }
}

async function free(): Promise<{ port: number }> {
  const server = await serveHttp(async () => plain(404, ""));
  await server.close();
  return server;
}
