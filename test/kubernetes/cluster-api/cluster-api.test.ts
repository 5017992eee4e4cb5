/**
 * Upstream Cluster API on the embedded API: its managers as processes, each with its own account and its webhooks, clusterctl, and the in-memory
 * infrastructure provider. Only one such provider may run on a machine, since it takes fixed ports; so it serves whichever API has the cluster.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { freePort } from "../free-port.ts";
import { until } from "../live.ts";
import { componentsOf } from "./components.ts";
import { embeddedApi, type Management, realApi, startManagement, webhookServing } from "./management.ts";
import { clusterApi, PROVIDERS, whyNoClusterApi } from "./programs.ts";
import { CLUSTER, collection, objects, PLURALS } from "./workload.ts";

const skip = (await whyNoClusterApi()) ?? false;
const INFRASTRUCTURE = "capi-infrastructure";
const WITHIN_MS = 180_000;

interface Condition {
  type: string;
  status: string;
  reason: string;
  message?: string;
}
type Seen = {
  metadata: { name: string; uid: string; managedFields?: unknown };
  spec: Record<string, unknown>;
  status?: Record<string, unknown> & { conditions?: Condition[] };
};

async function list(at: Management, group: string, plural: string): Promise<Seen[]> {
  const { status, body } = await at.transport.request({ method: "GET", path: collection(group, plural) });
  assert.equal(status, 200, JSON.stringify(body));
  return (body as { items: Seen[] }).items;
}

const isTrue = ({ status }: Seen, type: string): boolean =>
  status?.conditions?.find((c) => c.type === type)?.status === "True";

/** What there is, and what is not yet so, for the person who reads a failed test. */
async function story(at: Management): Promise<string> {
  const lines: string[] = [];
  for (const [group, plural] of [
    ["", "clusters"],
    ["", "machines"],
    ["controlplane", "kubeadmcontrolplanes"],
    ["infrastructure", "devmachines"],
  ] as const)
    for (const { metadata, status } of await list(at, group, plural))
      lines.push(
        `${plural}/${metadata.name}: ${(status?.conditions ?? [])
          .filter((c) => c.status !== "True")
          .map((c) => `${c.type}=${c.status} ${c.reason} ${c.message ?? ""}`)
          .join("; ")}`,
      );
  for (const { program } of PROVIDERS)
    lines.push(
      `${program}: ${complaints(await at.said(program))
        .slice(-3)
        .join("\n")}`,
    );
  return lines.join("\n");
}

/** Lines of klog at level E or W. */
function complaints(log: string): string[] {
  return log.split("\n").filter((line) => /^[EW]\d{4} /.test(line));
}

const available = (at: Management) =>
  until(
    "the cluster is available with three running machines",
    async () => {
      const [cluster] = await list(at, "", "clusters");
      const machines = await list(at, "", "machines");
      return (
        cluster !== undefined &&
        isTrue(cluster, "Available") &&
        machines.length === 3 &&
        machines.every((m) => m.status?.phase === "Running" && isTrue(m, "NodeReady"))
      );
    },
    WITHIN_MS,
    () => story(at),
  );

describe("upstream Cluster API", { skip }, () => {
  let home: Management;
  let away: Management;
  before(async () => {
    const programs = await clusterApi((line) => console.error(line));
    const components = [];
    for (const provider of PROVIDERS) components.push(await componentsOf(programs, provider));
    // Conversion and defaulting know no cluster, so the one infrastructure provider does both for both.
    const ports = new Map([[INFRASTRUCTURE, await freePort()]]);
    const common = { programs, components, ports, serving: await webhookServing() };
    home = await startManagement({ ...common, api: process.env.CLUSTER_API_ON === "real" ? realApi : embeddedApi });
    away = await startManagement({ ...common, api: embeddedApi });
  });
  after(async () => {
    await home?.close();
    await away?.close();
  });

  test("clusterctl installs it, and every manager becomes ready with no more than its own account", async () => {
    for (const { program } of PROVIDERS) await home.start(program);
    for (const { program } of PROVIDERS) if (program !== INFRASTRUCTURE) await away.start(program);
  });

  test("a cluster is created, becomes available, and its machines run", async () => {
    for (const object of objects) {
      const path = collection(object.apiVersion.split(".")[0]!.replace("cluster", ""), PLURALS[object.kind]!);
      const { status, body } = await home.transport.request({ method: "POST", path, body: object });
      assert.equal(status, 201, JSON.stringify(body));
    }
    await available(home);
  });

  test("clusterctl moves it away and back; its machines are the same", async () => {
    const names = async (at: Management) =>
      (await list(at, "", "machines")).map(({ metadata }) => metadata.name).sort();
    const before = await names(home);
    for (const [from, to] of [
      [home, away],
      [away, home],
    ] as const) {
      await from.clusterctl("move", "--kubeconfig", from.kubeconfigFile, "--to-kubeconfig", to.kubeconfigFile);
      assert.deepEqual([await list(from, "", "clusters"), await list(from, "", "machines")], [[], []]);
      assert.deepEqual(await names(to), before);
      await from.stop(INFRASTRUCTURE);
      await to.start(INFRASTRUCTURE);
      await available(to);
    }
  });

  test("it is deleted, and nothing of it is left", async (t) => {
    const { status } = await home.transport.request({
      method: "DELETE",
      path: `${collection("", "clusters")}/${CLUSTER}`,
    });
    assert.equal(status, 200);
    await until(
      "cluster, machines and infrastructure are gone",
      async () => {
        const left = await Promise.all([
          list(home, "", "clusters"),
          list(home, "", "machines"),
          list(home, "infrastructure", "devmachines"),
        ]);
        return left.flat().length === 0;
      },
      WITHIN_MS,
      () => story(home),
    );
    const { user, system } = process.cpuUsage();
    const memory = Math.round(process.memoryUsage().rss / 1e6);
    t.diagnostic(`both APIs and this test: ${Math.round((user + system) / 1e6)} s of CPU, ${memory} MB`);
    for (const { program } of PROVIDERS)
      t.diagnostic(`${program}: ${complaints(await home.said(program)).length} errors and warnings`);
  });
});
