/**
 * plunder's API: its paths with its envelope, for programs that were written for it, and the same below `/v1/plunder` with status codes. Who asks was
 * told by a client certificate. What the original took and did not do is done, or refused in words.
 */
import { asFault, Fault, type HttpAnswer, type HttpHandler, type Log, tryParseIp } from "@slipway/base";
import type { NetbootSettings } from "../../netboot/settings.ts";
import type { DeploymentBook } from "../deployments/book.ts";
import type { Deployer } from "../deployments/deployer.ts";
import { bootProblem, withoutEffect } from "../deployments/offer.ts";
import type { KeptDeployment } from "../deployments/state.ts";
import { BootConfig } from "../files/boot-config.ts";
import { Deployment, Deployments, HostConfig } from "../files/deployment.ts";
import { checkedDocument, readDocument } from "../files/document.ts";
import { ServerConfig } from "../files/server-config.ts";
import type { Act, Acts, Asked } from "./act.ts";
import { ENDPOINTS, routeOf } from "./endpoints.ts";
import { enveloped, native, type Told } from "./envelope.ts";
import { type MachinesPorts, machineActs } from "./machines-api.ts";
import type { Maps } from "./maps.ts";
import { changed, configOf } from "./server-view.ts";

export interface ApiPorts {
  /** Absent: machines are installed by objects of a cluster, and deployments are refused. */
  deployments: { book: DeploymentBook; deployer: Deployer } | undefined;
  maps: Maps;
  /** Machines with a lease, and until when (ms). */
  leases(): readonly { mac: string; at: number }[];
  hosts: MachinesPorts["hosts"];
  clock: MachinesPorts["clock"];
  settings: NetbootSettings;
  address: string;
  log: Log;
}

const NATIVE = "/v1/plunder";

/** Whether a request is of this API. */
export function isNative(path: string): boolean {
  return path === NATIVE || path.startsWith(`${NATIVE}/`);
}

/** Answers plunder's paths, and those below `/v1/plunder`. `client`: who asks. */
export function plunderServer(
  ports: ApiPorts,
): (request: Parameters<HttpHandler>[0], client: string) => Promise<HttpAnswer> {
  const acts = actsOf(ports);
  return async ({ method, url, body = "" }, client) => {
    const { pathname, searchParams: query } = new URL(url);
    const isOwn = isNative(pathname);
    const dress = isOwn ? native : enveloped;
    try {
      const { act, id } = actOf(acts, method, isOwn ? pathname.slice(NATIVE.length) : pathname, isOwn);
      return dress(await act({ id: decoded(id), query, client, document: () => readDocument(body, "the body") }));
    } catch (error) {
      const fault = asFault(error, "plunder");
      if (fault.code === "Internal" || fault.code === "Bug")
        ports.log.error({ method, error: fault.message }, "a request of plunder's API was not served");
      return dress({ error: fault });
    }
  };
}

/** Paths that the original has not. */
const OWN_PATH = /^(\/progress|\/waiting|\/machines)(?:\/([^/]+))?$/;

function actOf(acts: Acts, method: string, path: string, isOwn: boolean): { act: Act; id: string } {
  const [, begin, own = ""] = (isOwn && OWN_PATH.exec(path)) || [];
  const { route, id, isPath } =
    begin === undefined
      ? routeOf(method, path)
      : { route: `${method} ${begin}${own === "" ? "" : "/{id}"}`, id: own, isPath: true };
  const act = route === undefined || !Object.hasOwn(acts, route) ? undefined : acts[route];
  if (act === undefined) throw unserved(method, path, isPath);
  return { act, id };
}

function unserved(method: string, path: string, isPath: boolean): Fault {
  const shown = path.replaceAll(/[^\x21-\x7e]/g, "?").slice(0, 128);
  return isPath
    ? new Fault("MethodNotAllowed", shown, `${method} is not served`)
    : new Fault("NotFound", shown, "is not served", { remedy: "GET /api lists what is" });
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    throw new Fault("BadRequest", "the path", "has a % that begins no character");
  }
}

function actsOf(ports: ApiPorts): Acts {
  const { maps, leases } = ports;
  return {
    "GET /api": () => ({ payload: ENDPOINTS }),
    "GET /api/{id}": ({ id }) => ({ payload: functionOf(id) }),
    "GET /dhcp/leases": () => ({ payload: leases().map(timed) }),
    "GET /dhcp/unleased": () => ({ payload: unleased(ports).map(timed) }),
    ...deploymentActs(ports),
    ...machineActs({
      ...{ use: () => used(ports), hosts: ports.hosts, clock: ports.clock },
      problemOf: (name) => bootFault(name, ports),
    }),
    "POST /parlay": async ({ document, client, query }) => {
      await maps.begin(document(), client, { resume: query.get("resume") === "true" });
      return {};
    },
    "GET /parlay/logs/{id}": ({ id }) => {
      const log = maps.logs.get(hostOf(id));
      if (log === undefined) throw new Fault("NotFound", id.slice(0, 64), "no map was run on it");
      return { payload: log };
    },
    "DELETE /parlay/logs/{id}": ({ id }) => {
      if (maps.logs.get(hostOf(id))?.state === "Running")
        throw new Fault("Conflict", id.slice(0, 64), "a map runs on it");
      if (!maps.logs.delete(hostOf(id))) throw new Fault("NotFound", id.slice(0, 64), "no map was run on it");
      return {};
    },
  };
}

/** What is refused where objects of a cluster say what is installed. */
const CLUSTERED = new Fault("Forbidden", "deployments", "machines are installed by objects of the cluster here", {
  remedy: "create a BareMetalHost or a PlunderMachine, or serve this API with slipway netboot",
});

/** Deployments, where they are carried out here. */
function used({ deployments }: ApiPorts): NonNullable<ApiPorts["deployments"]> {
  if (deployments === undefined) throw CLUSTERED;
  return deployments;
}

function deploymentActs(ports: ApiPorts): Acts {
  const { deployments, settings, address } = ports;
  const images = Object.keys(settings.boot.images);
  const use = () => used(ports);
  const view = (): ServerConfig => configOf(settings, address, deployments?.book.bootConfigs ?? []);
  /** A single deployment is refused for what is wrong with it. */
  const checked = ({ document }: Asked): { deployment: Deployment; warning?: string } => {
    const deployment = checkedDocument(Deployment, document(), "the deployment");
    const problem = problemOf(deployment, use().book, images);
    if (problem !== undefined) throw new Fault("Invalid", `deployment ${deployment.mac}`, problem);
    return { deployment, ...warned(deployment) };
  };
  const remove = async (kept: KeptDeployment): Promise<Told> => {
    use().deployer.withdraw(await use().book.remove(kept.deployment.mac));
    return {};
  };
  const replace: Act = async (asked) => {
    const { deployment, warning } = checked(asked);
    const { book, deployer } = use();
    if (asked.id !== "" && book.byMac(asked.id).deployment.mac !== deployment.mac)
      throw new Fault("Invalid", "mac", "the body is for another machine than the path");
    await book.replace(deployment);
    deployer.look(deployment.mac);
    return said(warning);
  };
  return {
    "GET /config": () => ({ payload: view() }),
    "POST /config": async ({ document }) => {
      const config = checkedDocument(ServerConfig, document(), "the configuration");
      const differ = changed(config, view());
      if (differ.length > 0)
        throw new Fault(
          "Forbidden",
          "the configuration",
          `${differ.join(", ")}: changed by netboot's settings, not here`,
          {
            remedy: "leave them out, or as GET /config shows them",
          },
        );
      for (const boot of config.bootConfigs) demandBoot(boot, images);
      await use().book.setBootConfigs(config.bootConfigs);
      lookAtAll(use());
      return {};
    },
    "POST /config/boot/{id}": async ({ document, id }) => {
      const boot = checkedDocument(BootConfig, document(), "the boot configuration");
      if (boot.configName !== id) throw new Fault("Invalid", "configName", "is another than the name in the path");
      demandBoot(boot, images);
      await use().book.addBootConfig(boot);
      lookAtAll(use());
      return {};
    },
    "DELETE /config/boot/{id}": async ({ id }) => {
      await use().book.removeBootConfig(id);
      return {};
    },
    "GET /deployments": () => {
      const { globalConfig, deployments: all } = use().book;
      return { payload: { globalConfig, deployments: all.map(({ deployment }) => deployment) } };
    },
    "POST /deployments": async ({ document }) => {
      const all = checkedDocument(Deployments, document(), "the deployments");
      const { book, deployer } = use();
      const before = book.deployments;
      await book.replaceAll(all);
      for (const kept of before) if (book.find(kept.deployment.mac) === undefined) deployer.withdraw(kept);
      lookAtAll(use());
      // What is wrong with one machine is no reason to refuse the others.
      const wrong = all.deployments.flatMap((each) => {
        const problem = problemOf(each, book, images);
        return problem === undefined ? [] : [`${each.mac}: ${problem}`];
      });
      return said(wrong.length === 0 ? undefined : wrong.slice(0, 20).join("; "));
    },
    "POST /deployment": async (asked) => {
      const { deployment, warning } = checked(asked);
      await use().book.add(deployment);
      use().deployer.look(deployment.mac);
      return said(warning);
    },
    "PATCH /deployment": replace,
    "PATCH /deployment/{id}": async (asked) => {
      if (asked.id !== "global") return replace(asked);
      await use().book.setGlobalConfig(checkedDocument(HostConfig, asked.document(), "globalConfig"));
      lookAtAll(use());
      return {};
    },
    "GET /deployment/{id}": ({ id }) => ({ payload: use().book.byMac(id).deployment }),
    "DELETE /deployment/{id}": ({ id }) =>
      remove(addressOf(id) === undefined ? use().book.byMac(id) : use().book.byAddress(hostOf(id))),
    "DELETE /deployment/mac/{id}": ({ id }) => remove(use().book.byMac(id)),
    "DELETE /deployment/address/{id}": ({ id }) => remove(use().book.byAddress(hostOf(id))),
    "GET /progress": () => ({ payload: use().deployer.progress() }),
  };
}

/** Why no machine can be installed by the boot configuration of this name. */
function bootFault(name: string, ports: ApiPorts): Fault | undefined {
  const boot = used(ports).book.bootConfig(name);
  if (boot === undefined)
    return new Fault("MissingInput", "spec.deploymentType", `there is no boot configuration ${name}`);
  const problem = bootProblem(boot, Object.keys(ports.settings.boot.images));
  return problem === undefined ? undefined : new Fault("Invalid", `boot configuration ${name}`, problem);
}

function lookAtAll({ book, deployer }: NonNullable<ApiPorts["deployments"]>): void {
  for (const { deployment } of book.deployments) deployer.look(deployment.mac);
}

function demandBoot(boot: BootConfig, images: readonly string[]): void {
  const problem = bootProblem(boot, images);
  if (problem !== undefined) throw new Fault("Unsupported", `boot configuration ${boot.configName}`, problem);
}

function problemOf(deployment: Deployment, book: DeploymentBook, images: readonly string[]): string | undefined {
  const boot = book.bootConfig(deployment.bootConfigName);
  if (boot === undefined)
    return `bootConfigName: there is no boot configuration ${JSON.stringify(deployment.bootConfigName.slice(0, 64))}`;
  const idle = withoutEffect(deployment, boot);
  if (idle.length > 0)
    return `${idle.map((field) => `config.${field}`).join(", ")}: no effect with the type of ${boot.configName}`;
  return bootProblem(boot, images);
}

/** What has no effect, as in the original. */
function warned({ bootConfig, config }: Deployment): { warning?: string } {
  const words = [
    ...(bootConfig === undefined ? [] : ["bootConfig: the one that bootConfigName names is used"]),
    ...(config.adapter ? ["config.adapter: the card is found by its MAC address"] : []),
  ];
  return words.length === 0 ? {} : { warning: words.join("; ") };
}

function said(warning: string | undefined): Told {
  return warning === undefined ? {} : { warning };
}

function functionOf(id: string): unknown {
  const [name, method = "GET", ...rest] = id.split("/");
  const found = rest.length === 0 ? ENDPOINTS.find((each) => each.name === name && each.method === method) : undefined;
  if (found === undefined)
    throw new Fault("NotFound", id.slice(0, 64), "there is no such endpoint", { remedy: "GET /api lists them" });
  return found;
}

function unleased({ hosts, deployments }: ApiPorts): { mac: string; at: number }[] {
  const waiting = hosts.list().filter(({ macs }) => !macs.some((mac) => deployments?.book.find(mac) !== undefined));
  return waiting.map(({ mac, lastSeen: at }) => ({ mac, at }));
}

/** Go's time.Time in JSON is RFC 3339. */
function timed({ mac, at }: { mac: string; at: number }): { mac: string; time: string } {
  return { mac, time: new Date(at).toISOString() };
}

/** `10-0-0-5` → `10.0.0.5`; undefined: it is no address. */
function addressOf(id: string): string | undefined {
  return [id.replaceAll("-", "."), id.replaceAll("-", ":"), id].find((text) => tryParseIp(text) !== undefined);
}

function hostOf(id: string): string {
  return addressOf(id) ?? id;
}
