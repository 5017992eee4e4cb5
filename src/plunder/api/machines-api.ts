import { type Clock, Fault } from "@slipway/base";
import {
  MACHINES_PATH,
  type ServedMachine,
  WAITING_PATH,
  type WaitingMachine,
  WantedMachine,
} from "../../machines/drivers/plunder/wire.ts";
import { type Host, openInstall, openOrder } from "../../netboot/hosts/host.ts";
import type { Hosts } from "../../netboot/hosts/hosts.ts";
import type { DeploymentBook } from "../deployments/book.ts";
import { type ClaimedDeployment, isClaimed } from "../deployments/claims.ts";
import type { Deployer } from "../deployments/deployer.ts";
import { checkedDocument } from "../files/document.ts";
import type { Acts } from "./act.ts";

/** An agent that waits speaks more often. */
const SILENT_MS = 5 * 60_000;

export interface MachinesPorts {
  /** Throws where machines are installed by objects of a cluster. */
  use(): { book: DeploymentBook; deployer: Deployer };
  hosts: Pick<Hosts, "get" | "list" | "standing">;
  /** Why a machine can't be installed by this boot configuration. */
  problemOf(bootConfigName: string): Fault | undefined;
  clock: Pick<Clock, "now">;
}

/**
 * Machines for programs that have objects of their own, such as an operator with its PlunderMachines: which ones wait, one for a claim, and back again by a
 * wipe. Below `/v1/plunder` alone; plunder has nothing like it.
 */
export function machineActs({ use, hosts, problemOf, clock }: MachinesPorts): Acts {
  const isFree = (host: Readonly<Host>, isDeployed: (mac: string) => boolean): boolean => {
    const { inventoryAt, session, boot, macs } = host;
    const isInAgent = boot === "agent" && session !== undefined && clock.now() - session.spokeAt < SILENT_MS;
    const isIdle = openOrder(host) === undefined && openInstall(host) === undefined;
    return inventoryAt !== undefined && isInAgent && isIdle && !macs.some(isDeployed);
  };
  const served = (kept: ClaimedDeployment): ServedMachine => {
    const { deployment, claim } = kept;
    const { mac, config } = deployment;
    const address = hosts.get(mac)?.address;
    const { state, message } = use().deployer.progressOf(kept);
    const { id, holder, createdAt } = claim;
    const told = { state, message: message.slice(0, 4096), hostname: config.hostname ?? "" };
    return { claim: id, holder, mac, createdAt, ...told, ...(address !== undefined && { address }) };
  };
  const ofClaim = (id: string): ServedMachine[] => {
    const { book } = use();
    const kept = book.deployments.filter(isClaimed).find(({ claim }) => claim.id === id);
    if (kept !== undefined) return [served(kept)];
    const wiped = book.wipedOf(id);
    if (wiped === undefined) return [];
    const { proof: message, ...rest } = wiped;
    return [{ ...rest, state: "wiped", message }];
  };
  return {
    [`GET ${WAITING_PATH}`]: ({ query }) => {
      const isAsked = query.get("hardware") === "true";
      const deployed = new Set(use().book.deployments.map(({ deployment }) => deployment.mac));
      const machines = hosts
        .list()
        .filter((host) => isFree(host, (mac) => deployed.has(mac)))
        .map((host) => waiting(host, hosts.standing(host.name).trust !== "discovered", isAsked));
      return { payload: { machines } };
    },
    [`GET ${MACHINES_PATH}`]: ({ query }) => {
      const id = query.get("claim");
      return {
        payload: { machines: id === null ? use().book.deployments.filter(isClaimed).map(served) : ofClaim(id) },
      };
    },
    [`POST ${MACHINES_PATH}`]: async ({ document }) => {
      const wanted = checkedDocument(WantedMachine, document(), "the machine");
      const { book, deployer } = use();
      const [held] = ofClaim(wanted.claim);
      if (held?.mac === wanted.mac && held.state !== "wiped" && held.state !== "releasing")
        return { payload: { machines: [held] } };
      const problem = problemOf(wanted.bootConfigName);
      if (problem !== undefined) throw problem;
      const host = hosts.get(wanted.mac);
      if (host === undefined) throw new Fault("NotFound", wanted.mac, "no such machine was seen");
      // The one card by which it is known here: by another one it would be another deployment.
      if (host.mac !== wanted.mac) throw new Fault("Conflict", wanted.mac, `it is a card of ${host.mac}`);
      const isDeployed = (mac: string): boolean => book.find(mac) !== undefined;
      if (held === undefined && !isFree(host, isDeployed)) throw new Fault("Conflict", wanted.mac, "it is not waiting");
      await book.claim(wanted, { macs: host.macs, now: clock.now() });
      deployer.look(wanted.mac);
      return { payload: { machines: ofClaim(wanted.claim) } };
    },
    [`DELETE ${MACHINES_PATH}/{id}`]: async ({ id }) => {
      const { book, deployer } = use();
      if (book.wipedOf(id) === undefined) await book.release(id);
      const machines = ofClaim(id);
      for (const { mac, state } of machines) if (state === "releasing") deployer.look(mac);
      return { payload: { machines } };
    },
  };
}

function waiting(host: Readonly<Host>, isTrusted: boolean, withHardware: boolean): WaitingMachine {
  const { mac, macs } = host;
  const inventory = withHardware ? host.inventory : undefined;
  if (inventory === undefined) return { mac, macs: [...macs], isTrusted };
  const { cpu, memoryBytes, disks, architecture } = inventory;
  const diskBytes = Math.max(0, ...disks.filter(({ readOnly }) => !readOnly).map(({ bytes }) => bytes));
  return { mac, macs: [...macs], isTrusted, hardware: { cpus: cpu.count, memoryBytes, diskBytes, architecture } };
}
