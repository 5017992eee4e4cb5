/**
 * The course of a lab's tenant on virtual machines, from an empty node to an empty node: machines are made and offered, a SIPCluster takes some of them, the
 * tenant's API answers through the load balancer, users log in, a machine joins; then all of it goes. Each step waits until it holds.
 */
import { Fault, isFault } from "@slipway/base";
import { isTrue, type Transport } from "@slipway/kube";
import { Event, type Node, Node as Nodes, Secret } from "@slipway/kube/core";
import { createBootstrapToken } from "../../bootstrap/kubeadm/bootstrap-token.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { SIPCluster } from "../../kinds/sip/sip-cluster.ts";
import { Vino } from "../../kinds/vino/vino.ts";
import { CourseLooks, seconds } from "../course-looks.ts";
import type { LabCoursePorts } from "../course-ports.ts";
import { login, type Provider } from "./dex-login.ts";
import { joinUserData } from "./join-seed.ts";
import type { LabVino } from "./manifests.ts";
import { mayRead, type TenantApi, tenantApi, whoIs } from "./tenant.ts";
import { areOffered, isTaken, type VinoView, viewVino, vinoRows } from "./view.ts";

/** The steps, by what holds at the end of each. */
export type Reached = "offered" | "served" | "logged-in" | "joined" | "released" | "gone";

export interface CoursePorts extends LabCoursePorts<Reached, VinoView> {
  /** The disk that workers are installed with. */
  image: { url: string; checksum: string };
}

const TOKEN_MS = 60 * 60_000;
/** Of examples/lab-vino. */
const ADA = { name: "ada@example.org", password: "password" };
/** As Dex has it for whoever takes its connector for tests. */
const MOCK = { username: "kilgore@kilgore.trout", group: "authors" };
const REDIRECT = "http://localhost:8000";

/** Resolves when all of it held. Rejects with a `Fault` that names what did not; with the signal's reason when that is aborted. */
export async function runCourse(lab: LabVino, ports: CoursePorts): Promise<void> {
  const course = new Course(lab, ports);
  try {
    await course.run();
  } finally {
    await course.close();
  }
}

class Course {
  readonly #lab: LabVino;
  readonly #ports: CoursePorts;
  readonly #looks: CourseLooks<Reached, VinoView>;
  #tenant: TenantApi | undefined;
  #nodes: readonly Node[] = [];

  constructor(lab: LabVino, ports: CoursePorts) {
    this.#lab = lab;
    this.#ports = ports;
    this.#looks = new CourseLooks(
      { name: lab.sip.name, look: () => this.#look(), story: (view) => story(view, this.#nodes) },
      ports,
    );
  }

  async run(): Promise<void> {
    await this.#offer();
    const cluster = await this.#serve();
    await this.#logIn(cluster);
    await this.#join();
    await this.#release();
    await this.#end();
  }

  async close(): Promise<void> {
    const tenant = this.#tenant;
    this.#tenant = undefined;
    await tenant?.close();
  }

  async #offer(): Promise<void> {
    const { client, transport, apply } = this.#ports;
    const { first, count } = this.#lab;
    const took = this.#timer();
    await apply({ client, transport }, first);
    await this.#until("offered", `${count} hosts that are wiped and available`, (view) => areOffered(view, count));
    this.#ports.tell(
      `${count} virtual machines were made, started from the network, inspected and wiped, and are available, ${took()} after the Vino was applied`,
    );
  }

  async #serve(): Promise<SIPCluster> {
    const { client, transport, apply, tell } = this.#ports;
    const { rest, workers, sip } = this.#lab;
    const took = this.#timer();
    await apply({ client, transport }, rest);
    const { cluster } = await this.#until("served", "SIPCluster that is Ready", (view) =>
      isTrue(view.cluster?.status?.conditions, "Ready"),
    );
    const hosts = (cluster!.status?.hosts ?? []).map(({ name, role }) => `${name} as ${role}`);
    if (hosts.length !== workers) throw new Fault("Refused", sip.name, `it has ${hosts.length} hosts of ${workers}`);
    tell(`the SIPCluster is Ready, ${took()} after it was applied, and has ${hosts.join(", ")}`);
    const server = serverOf(cluster!);
    let why = "";
    await this.#looks.wait(
      `answer of the tenant's API at ${server}`,
      async () => {
        try {
          this.#tenant ??= await tenantApi(client, sip, server, this.#ports);
          await this.#tenant.client.list(Nodes);
          return true;
        } catch (error) {
          if (!isFault(error)) throw error;
          why = error.message;
          return false;
        }
      },
      () => why,
    );
    tell(`the tenant's API answers its administrator through the load balancer, at ${server}, after ${took()}`);
    return cluster!;
  }

  async #logIn({ status }: SIPCluster): Promise<void> {
    const { issuer = "", clientID: clientId = "", ca = "" } = status?.tenant?.oidc ?? {};
    const provider: Provider = { issuer, ca, clientId, redirectUri: REDIRECT };
    const took = this.#timer();
    const ada = await login(provider, { connector: "local", user: ADA });
    const mock = await login(provider, { connector: "mock" });
    // The control plane is started anew with the provider's settings, and learns its keys.
    await this.#looks.wait("users that the tenant's API knows", async () => {
      const first = await this.#as(ada.id_token, whoIs);
      const second = await this.#as(mock.id_token, whoIs);
      return first?.username === ADA.name && second?.groups.includes(MOCK.group) === true;
    });
    await this.#looks.wait(
      `right of the group ${MOCK.group}`,
      async () => (await this.#as(mock.id_token, mayRead)) === true,
    );
    if ((await this.#as(ada.id_token, mayRead)) !== false)
      throw new Fault("Refused", ADA.name, "she may read what nobody has allowed her to");
    const refused = await login(provider, { connector: "local", user: { ...ADA, password: "another" } }).then(
      () => false,
      () => true,
    );
    if (!refused) throw new Fault("Refused", issuer, "it takes a wrong password");
    await this.#ports.reached?.("logged-in", await this.#look());
    this.#ports.tell(
      `${ADA.name} and ${MOCK.username} log in by ${issuer}; the API knows them, and lets the group ${MOCK.group} read, and nobody else, after ${took()}`,
    );
  }

  async #join(): Promise<void> {
    const { client, random, clock, image, tell } = this.#ports;
    const { workers } = this.#lab;
    const took = this.#timer();
    const { hosts } = await this.#look();
    const { token, secret } = createBootstrapToken({ random, expires: clock.now() + TOKEN_MS });
    await this.#tenant!.client.create(Secret, secret as unknown as Secret);
    for (const { metadata } of hosts.filter(isTaken)) {
      const { name, namespace = "" } = metadata;
      const userData = joinUserData({ ...this.#tenant!.credentials, token });
      const of = { name: `${name}-user-data`, namespace };
      await client.create(Secret, { metadata: of, stringData: { userData } });
      const spec = { image: { ...image, checksumType: "sha256" }, userData: of, online: true };
      await client.patch(BareMetalHost, { name, namespace }, { type: "merge", body: { spec } });
    }
    await this.#until("joined", `${workers} Nodes of the tenant that are Ready`, (_, nodes) => {
      const ready = nodes.filter(({ status }) => isTrue(status?.conditions, "Ready"));
      return ready.length === workers;
    });
    tell(
      `${workers === 1 ? "the machine is" : `${workers} machines are`} installed, and Ready in the tenant, after ${took()}`,
    );
  }

  async #release(): Promise<void> {
    const { client, tell } = this.#ports;
    const { count, sip } = this.#lab;
    const took = this.#timer();
    const used = (await this.#look()).hosts.filter(isTaken).map(({ metadata }) => metadata.name);
    await client.delete(SIPCluster, sip);
    await client.delete(TenantControlPlane, sip);
    // Each look would wait for an answer that never comes.
    await this.close();
    await this.#until("released", "end of the SIPCluster, and wiped machines", (view) => {
      return view.cluster === undefined && areOffered(view, count);
    });
    await this.#proveWipes(used);
    tell(`the SIPCluster is gone, and ${used.join(", ")} wiped with proof, ${took()} after its deletion`);
  }

  async #proveWipes(names: readonly string[]): Promise<void> {
    const { items } = await this.#ports.client.list(Event, { namespace: this.#lab.vino.namespace });
    for (const name of names) {
      const isProven = items.some(
        ({ reason, message = "", involvedObject }) =>
          reason === "DeprovisioningComplete" &&
          message.startsWith("wiped, and read back") &&
          involvedObject.name === name,
      );
      if (!isProven) throw new Fault("Refused", name, "nothing proves that its disks were wiped after it was used");
    }
  }

  async #end(): Promise<void> {
    const { client, tell } = this.#ports;
    const took = this.#timer();
    await client.delete(Vino, this.#lab.vino);
    await this.#until(
      "gone",
      "end of the Vino",
      ({ vino, hosts, vinoNodes }) => vino === undefined && hosts.length === 0 && vinoNodes.length === 0,
    );
    tell(`the Vino is gone, and its machines, hosts and addresses with it, ${took()} after its deletion`);
  }

  /** Undefined: the API did not answer. */
  async #as<T>(token: string, ask: (transport: Transport) => Promise<T>): Promise<T | undefined> {
    const transport = this.#tenant!.as(token);
    try {
      return await ask(transport);
    } catch (error) {
      if (isFault(error)) return undefined;
      throw error;
    } finally {
      await transport.close();
    }
  }

  async #until(
    step: Reached,
    missing: string,
    holds: (view: VinoView, nodes: readonly Node[]) => boolean,
  ): Promise<VinoView> {
    return await this.#looks.until(step, missing, (view) => holds(view, this.#nodes));
  }

  async #look(): Promise<VinoView> {
    const view = await viewVino(this.#ports.client, this.#lab);
    const { items } = (await this.#tenant?.client.list(Nodes).catch(ignoreFault)) ?? { items: [] };
    this.#nodes = items;
    this.#ports.show?.(vinoRows(view, items));
    return view;
  }

  #timer(): () => string {
    const { clock } = this.#ports;
    const began = clock.monotonic();
    return () => seconds(clock.monotonic() - began);
  }
}

/** A tenant that does not answer has no Nodes. */
function ignoreFault(error: unknown): undefined {
  if (!isFault(error)) throw error;
}

/** Where the API is reached through the load balancer. Throws `Refused` where the status does not say it. */
function serverOf({ metadata, status }: SIPCluster): string {
  const found = status?.endpoints?.find(({ kind }) => kind === "loadBalancerControlPlane");
  const [port] = found?.ports ?? [];
  if (found?.address === undefined || port === undefined)
    throw new Fault("Refused", metadata.name, "its status has no endpoint of the load balancer");
  return `https://${found.address}:${port}`;
}

function story(view: VinoView, nodes: readonly Node[]): string {
  const rows = vinoRows(view, nodes).map((row) => Object.values(row).filter(Boolean).join(" "));
  const waits = [view.vino, view.cluster].flatMap((each) => each?.status?.waitingFor ?? []);
  return [...rows, ...waits.map((what) => `waiting for ${what}`)].join("; ");
}
