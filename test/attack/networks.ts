/** A server, machines and attackers in networks of their own: on the server's link, behind a relay, and merely routed. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { inventoryOf } from "../../src/netboot/hosts/testing.ts";
import type { ShownHost } from "../../src/netboot/local-api.ts";
import type { Inventory, Registered } from "../../src/netboot/protocol/messages.ts";
import type { Answered, Question } from "../netboot/ask.ts";
import { Namespace } from "../netboot/namespace.ts";
import { scratch } from "../netboot/served.ts";

export const SERVER = "10.9.0.1";
const AGENT = `https://${SERVER}:8443/agent/v1`;

/** `far` and `near` are behind the relay, `away` is routed and has never asked for an address. */
export const MACS = {
  victim: "52:54:00:00:00:0a",
  thief: "52:54:00:00:00:0b",
  third: "52:54:00:00:00:0c",
  far: "52:54:00:00:08:0a",
  near: "52:54:00:00:08:0b",
  away: "52:54:00:00:07:0a",
} as const;
export type Machine = keyof typeof MACS;

/** Each machine's card is called `card`. The router has the relay's networks and the one of `away`. */
const SETUP = `
ip link add rack type bridge
ip addr add ${SERVER}/24 dev rack
ip link set rack up
ip netns add router
ip link add p-router type veth peer name north
ip link set north netns router
ip link set p-router master rack up
for m in victim thief third; do
  ip netns add $m
  ip link add p-$m type veth peer name card
  ip link set card netns $m
  ip link set p-$m master rack up
done
for m in far near away; do
  ip netns add $m
  ip link add p-$m type veth peer name card
  ip link set card netns $m
  ip link set p-$m netns router
done
ip route add 10.8.0.0/24 via 10.9.0.2
ip route add 198.51.100.0/24 via 10.9.0.2
ip netns exec router sh -ec '
  echo 1 > /proc/sys/net/ipv4/ip_forward
  ip link set lo up
  ip addr add 10.9.0.2/24 dev north
  ip link set north up
  ip link add south type bridge
  ip addr add 10.8.0.1/24 dev south
  ip link set south up
  for m in far near; do ip link set p-$m master south up; done
  ip addr add 198.51.100.1/24 dev p-away
  ip link set p-away up
'
`;

const MACHINES = Object.entries(MACS)
  .map(
    ([name, mac]) =>
      `ip netns exec ${name} sh -ec 'ip link set lo up; ip link set card address ${mac}; ip link set card up'`,
  )
  .join("\n");

const AWAY = `
ip netns exec away sh -ec 'ip addr add 198.51.100.7/24 dev card; ip route add default via 198.51.100.1'
`;

export interface Reply {
  status: number;
  body: string;
}

/** Network namespaces for a server, a machine on its link, a neighbour, a relay and somebody far away. */
export class Networks {
  readonly dir: string;
  readonly #namespace: Namespace;
  /** What the server has logged. */
  log: () => string = () => "";

  private constructor(namespace: Namespace, dir: string) {
    this.#namespace = namespace;
    this.dir = dir;
  }

  /**
   * Serves with these settings beside the interface. `disk`: the size of the disk that its state is on, such as `16m`; unset: no limit.
   * Everything ends with the test.
   */
  static async open(t: TestContext, settings: object, { disk }: { disk?: string } = {}): Promise<Networks> {
    const dir = scratch(t);
    mkdirSync(join(dir, "assets"));
    writeFileSync(join(dir, "netboot.json"), JSON.stringify({ interface: "rack", ...settings }));
    const namespace = await Namespace.open(SETUP + MACHINES + AWAY);
    t.after(() => namespace.close());
    const networks = new Networks(namespace, dir);
    const slipway = join(import.meta.dirname, "../../bin/slipway");
    const options = `--config ${dir}/netboot.json --no-kubernetes --dir ${dir}/state --assets ${dir}/assets`;
    if (disk !== undefined)
      await namespace.shell(`mkdir ${dir}/state; mount -t tmpfs -o size=${disk},mode=700 none ${dir}/state`);
    const serve = `echo $$ > ${dir}/pid; exec ${slipway} netboot ${options}`;
    networks.log = await namespace.startSaying("netboot serves", "sh", ["-c", serve]);
    return networks;
  }

  /** Ends the server as Ctrl-C does; rejects when it is there after 20 s. */
  async interrupt(): Promise<void> {
    const gone = "i=0; while kill -0 $pid 2>/dev/null; do i=$((i+1)); [ $i -lt 200 ] || exit 1; sleep 0.1; done";
    await this.shell("server", `pid=$(cat ${this.dir}/pid); kill -INT $pid; ${gone}`);
  }

  shell(machine: Machine | "router" | "server", script: string): Promise<string> {
    return this.#namespace.shell(machine === "server" ? script : `ip netns exec ${machine} sh -ec '${script}'`);
  }

  async startRelay(): Promise<void> {
    const args = ["-4", "-d", "--no-pid", "-a", "-m", "append", "-D", "-id", "south", "-iu", "north", SERVER];
    await this.#namespace.startSaying("Sending on   Socket/fallback", "dhcrelay", args, { net: "router" });
  }

  /** Has the machine ask for an address as an agent does, and use what it gets; returns that. */
  async lease(machine: Machine): Promise<string> {
    const script = join(this.dir, "udhcpc");
    const route = "ip route replace default via $router";
    writeFileSync(
      script,
      `#!/bin/sh\n[ "$1" = bound ] || exit 0\nip addr flush dev card\nip addr add $ip/24 dev card\n[ -z "$router" ] || ${route}\n`,
    );
    chmodSync(script, 0o755);
    const asking = ["-i", "card", "-n", "-q", "-f", "-t", "10", "-T", "1", "-s", script];
    const { code, stderr } = await this.#namespace.run("udhcpc", asking, { net: machine });
    assert.equal(code, 0, stderr);
    return /lease of (\S+) obtained/.exec(stderr)?.[1] ?? assert.fail(stderr);
  }

  /** Sends one DHCP message from the machine, whatever it says; returns the answers that reach it. */
  async say(machine: Machine, question: Omit<Question, "to">): Promise<Answered[]> {
    await this.shell(machine, "ip route replace 255.255.255.255 dev card");
    const to = { address: "255.255.255.255", port: 67 };
    const args = [join(import.meta.dirname, "../netboot/ask.ts"), JSON.stringify({ ...question, to })];
    const { stdout, stderr } = await this.#namespace.run(process.execPath, args, { net: machine });
    assert.equal(stderr, "");
    return stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Answered]));
  }

  /** Status 0: nobody answered. */
  async curl(machine: Machine, url: string, ...options: string[]): Promise<Reply> {
    const args = ["-sk", "--max-time", "5", "-w", "\n%{http_code}", ...options, url];
    const { stdout } = await this.#namespace.run("curl", args, { net: machine });
    const end = stdout.lastIndexOf("\n");
    return { status: Number(stdout.slice(end + 1)), body: stdout.slice(0, end) };
  }

  /** The script of one machine, asked for by another or by itself. */
  script(asker: Machine, of: Machine, ...options: string[]): Promise<Reply> {
    const path = `/boot/${MACS[of].replaceAll(":", "-")}.ipxe?arch=x86_64&platform=efi`;
    return this.curl(asker, `http://${SERVER}:8080${path}`, ...options);
  }

  /** By an agent's path (`GET hosts/ID/orders`), as who holds this token or capability. */
  agent(asker: Machine, bearer: string, request: `${string} ${string}`, body = ""): Promise<Reply> {
    const [method, path] = request.split(" ") as [string, string];
    const options = ["-X", method, "-H", `Authorization: Bearer ${bearer}`, "--data-binary", body];
    return this.curl(asker, `${AGENT}/${path}`, ...options);
  }

  /** Its capability, by way of its own script. */
  async boot(machine: Machine): Promise<string> {
    const { status, body } = await this.script(machine, machine);
    return /slipway\.boot=(\S+)/.exec(body)?.[1] ?? assert.fail(`no capability for ${machine}: ${status} ${body}`);
  }

  register(asker: Machine, bearer: string, inventory: Inventory = inventoryOf(MACS[asker])): Promise<Reply> {
    return this.agent(asker, bearer, "POST hosts", JSON.stringify(inventory));
  }

  /** An address, a script and a registration, as every honest machine has them. */
  async honest(machine: Machine): Promise<Registered & { address: string; capability: string }> {
    const address = await this.lease(machine);
    const capability = await this.boot(machine);
    const { status, body } = await this.register(machine, capability);
    assert.equal(status, 200, body);
    return { ...(JSON.parse(body) as Registered), address, capability };
  }

  /** What the administrator asks. */
  async admin<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    const socket = `${this.dir}/state/netboot.sock`;
    const data = body === undefined ? [] : ["--data-binary", JSON.stringify(body)];
    const args = ["-s", "--unix-socket", socket, "-X", method, ...data, `http://local/v1${path}`];
    return JSON.parse((await this.#namespace.run("curl", args)).stdout) as T;
  }

  host(machine: Machine): Promise<ShownHost> {
    return this.admin("GET", `/hosts/${MACS[machine]}`);
  }
}

/** Our own link, and a network behind the relay. */
export const SUBNETS = [
  { network: "10.9.0.0/24", pools: [{ first: "10.9.0.100", last: "10.9.0.199" }], gateway: "10.9.0.2" },
  { network: "10.8.0.0/24", pools: [{ first: "10.8.0.100", last: "10.8.0.199" }], gateway: "10.8.0.1" },
];
