import type { HarvesterJoin, Interface } from "../../bootstrap/harvester/join.ts";
import type { Instance } from "../../kinds/harvester/instance.ts";
import type { Machine } from "../../machines/machine.ts";
import { managementPorts, withoutNulls } from "./claim.ts";
import { NODE_CLAIM_LABEL } from "./names.ts";

/** The release installed where neither the pool nor its ISO says. */
const DEFAULT_ISO = "https://releases.rancher.com/harvester/v1.8.1/harvester-v1.8.1-amd64.iso";

export interface JoinFacts {
  token: string;
  serverUrl: string;
  /** Hash of the operating system's password: the clear text does not leave its Secret. */
  passwordHash: string;
  /** Where the installer reports. */
  events: { started: string; succeeded: string; failed: string };
  /** Known in the second of two passes: its ports' MAC addresses choose the management NICs. */
  machine: Machine | undefined;
}

/** What the machine of an Instance must know to install Harvester and join. */
export function harvesterJoin(instance: Instance, facts: JoinFacts): HarvesterJoin {
  const { spec, metadata } = instance;
  const { harvester = {} } = spec;
  return {
    isoUrl: spec.isoUrl || DEFAULT_ISO,
    ...(harvester.version && { version: harvester.version }),
    ...(harvester.artifactsURL && { artifactsUrl: harvester.artifactsURL }),
    serverUrl: facts.serverUrl,
    token: facts.token,
    hostname: metadata.name,
    password: facts.passwordHash,
    sshAuthorizedKeys: harvester.sshAuthorizedKeys ?? [],
    dnsNameservers: harvester.dnsNameservers ?? [],
    ntpServers: harvester.ntpServers ?? [],
    labels: { ...harvester.labels, [NODE_CLAIM_LABEL]: metadata.uid },
    role: harvester.role ?? "worker",
    device: harvester.device ?? "/dev/sda",
    ...(harvester.dataDisk && { dataDisk: harvester.dataDisk }),
    tty: harvester.tty ?? "ttyS1,115200n8",
    management: managementOf(spec, facts.machine),
    skipChecks: harvester.skipChecks ?? true,
    webhooks: [
      { event: "STARTED", method: "POST", url: facts.events.started },
      { event: "SUCCEEDED", method: "POST", url: facts.events.succeeded },
      { event: "FAILED", method: "POST", url: facts.events.failed },
    ],
  };
}

function managementOf(spec: Instance["spec"], machine: Machine | undefined): HarvesterJoin["management"] {
  const { harvester: { mtu, vlanID } = {} } = spec;
  const bondOptions = withoutNulls(spec.managementBondingOptions ?? {});
  return {
    method: "dhcp",
    ...(machine && { interfaces: managementCards(spec, machine) }),
    ...(Object.keys(bondOptions).length > 0 && { bondOptions }),
    ...(mtu !== undefined && { mtu }),
    ...(vlanID !== undefined && { vlanId: vlanID }),
  };
}

function managementCards(spec: Instance["spec"], machine: Machine): Interface[] {
  const wanted = managementPorts(spec);
  return machine.ports.flatMap((port) =>
    wanted.includes(port.name) && port.mac !== undefined ? [{ hwAddr: port.mac }] : [],
  );
}
