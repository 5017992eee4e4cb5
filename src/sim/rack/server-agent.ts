/** The agent of a simulated server: the protocol of docs/agent-protocol.md, as the real program speaks it. SIMULATION. */
import type { HttpAnswer, HttpRequest } from "@slipway/base";
import {
  AGENT_PATH,
  type Inventory,
  type Order,
  type Registered,
  type Result,
} from "../../netboot/protocol/messages.ts";
import { SIM_AGENT_KEY } from "./server-key.ts";
import type { AgentMachine } from "./server-parts.ts";

const POLL_S = 55;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;

/** Speaks until the machine gets an order to restart or to power off. Never rejects; without power it ends somehow. */
export async function runAgent(
  server: AgentMachine,
  capability: string,
  signal: AbortSignal,
): Promise<"reboot" | "off"> {
  const { clock, random, network, address } = server;
  const done = new Map<string, Result>();
  let session: Registered | undefined;

  for (let retryMs = FIRST_RETRY_MS; !signal.aborted; ) {
    try {
      session ??= await register();
      const order = await next(session);
      retryMs = FIRST_RETRY_MS;
      if (order === undefined) continue;
      const end = await obey(order, session);
      if (end !== undefined) return end;
    } catch {
      if (signal.aborted) break;
      await clock.sleep(retryMs + random.int(FIRST_RETRY_MS), signal).catch(() => {});
      retryMs = Math.min(LAST_RETRY_MS, retryMs * 2);
    }
  }
  return "off";

  async function send(method: HttpRequest["method"], path: string, token: string, body?: unknown): Promise<HttpAnswer> {
    return network.agents({
      method,
      url: `http://netboot.invalid${AGENT_PATH}/${path}`,
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      remote: address,
      signal,
    });
  }

  async function register(): Promise<Registered> {
    const answer = await send("POST", "hosts", session?.token ?? capability, inventoryOf(server));
    if (answer.status !== 200) throw new Error(`registration: ${answer.status} ${answer.body}`);
    return JSON.parse(answer.body) as Registered;
  }

  async function next({ host, token }: Registered): Promise<Order | undefined> {
    const answer = await send("GET", `hosts/${host}/orders?wait=${POLL_S}`, token);
    if (answer.status === 200) return JSON.parse(answer.body) as Order;
    if (answer.status === 204) return undefined;
    // The token is no good any more: it registers again, by the capability.
    if ([401, 403, 404].includes(answer.status)) session = undefined;
    throw new Error(`orders: ${answer.status}`);
  }

  async function obey(order: Order, { host, token }: Registered): Promise<"reboot" | "off" | undefined> {
    const result = done.get(order.id) ?? (await carryOut(server, order, signal));
    done.set(order.id, result);
    const answer = await send("POST", `hosts/${host}/orders/${order.id}/result`, token, result);
    if (answer.status !== 204) throw new Error(`result: ${answer.status}`);
    if (order.order === "reboot") return "reboot";
    return order.order === "poweroff" ? "off" : undefined;
  }
}

/** Does what an order says to the server's disks. Rejects when the power is cut meanwhile. */
async function carryOut(server: AgentMachine, order: Order, signal: AbortSignal): Promise<Result> {
  const message = server.faults.failure(order.order) ?? spoiled(server, order);
  const isCut = server.faults.powerCut(order.order);
  const done = isCut || message !== undefined ? "in part" : "whole";
  if (order.order === "write") await write(server, order, done, signal);
  else if (order.order === "wipe") await wipe(server, done, signal);
  if (isCut) {
    server.restart();
    throw new Error("the power was cut");
  }
  if (message !== undefined) return { ok: false, message };
  return { ok: true, message: "done", ...(order.order === "wipe" && { disks: proofs(server) }) };
}

/** What is found wrong with an image once it has been written, as far as it goes. */
function spoiled({ disks, network }: AgentMachine, order: Order): string | undefined {
  if (order.order !== "write") return undefined;
  const { bytes = 0, checksum } = network.image?.(order.url) ?? {};
  const disk = disks.find(({ facts }) => facts.name === order.disk || facts.byId.includes(order.disk));
  if (disk !== undefined && bytes > disk.facts.bytes)
    return `the image is larger than ${disk.facts.name} with its ${disk.facts.bytes} bytes`;
  const { type, value } = order.checksum ?? {};
  return checksum === undefined || checksum === value ? undefined : `the image has another ${type} than ordered`;
}

type Done = "whole" | "in part";

async function write(
  { clock, disks, timings, network, address }: AgentMachine,
  order: Extract<Order, { order: "write" }>,
  done: Done,
  signal: AbortSignal,
): Promise<void> {
  const disk = disks.find(({ facts }) => facts.name === order.disk || facts.byId.includes(order.disk));
  if (disk === undefined) throw new Error(`there is no disk ${order.disk}`);
  await clock.sleep(done === "whole" ? timings.write : timings.write / 20, signal);
  const data: Record<string, string> = {};
  for (const { path, url } of order.data?.files ?? []) data[path] = await network.file(url, address);
  // Without power nothing is written, however long a file was on its way.
  signal.throwIfAborted();
  // Half an image is no image, but it is no empty disk either.
  disk.content = { image: done === "whole" ? order.url : "torn", data };
}

async function wipe({ clock, disks, timings }: AgentMachine, done: Done, signal: AbortSignal): Promise<void> {
  await clock.sleep(timings.wipe, signal);
  if (done === "whole") for (const disk of disks) disk.content = undefined;
}

function proofs({ disks, faults }: AgentMachine): NonNullable<Result["disks"]> {
  const told = disks.filter(({ facts }) => !faults.silentAbout(facts.name));
  return told.map(({ facts }) => ({ disk: facts.name, how: "metadata", proven: true, detail: "read back" }));
}

function inventoryOf({ name, mac, macs, address, disks }: AgentMachine): Inventory {
  return {
    bootMac: mac,
    architecture: "x86_64",
    firmware: { kind: "uefi", secureBoot: true, vendor: "Slipway simulation", version: "1" },
    system: { manufacturer: "Slipway simulation", product: "Server", serial: name },
    cpu: { model: "simulated", count: 16, flags: ["lm"] },
    memoryBytes: 64 * 2 ** 30,
    disks: disks.map(({ facts }) => facts),
    cards: macs.map((each, i) => ({
      name: `eth${i}`,
      mac: each,
      link: true,
      speedMbps: 10_000,
      addresses: each === mac ? [`${address}/16`] : [],
    })),
    agent: { version: "simulated", kernel: "6.1", uptimeSeconds: 10, key: SIM_AGENT_KEY },
  };
}
