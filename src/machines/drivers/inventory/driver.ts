/**
 * Machines of the cluster's own inventory: BareMetalHosts. A machine is a host's turn with one claim, from the write that puts the claim
 * into `spec.consumerRef` until the host is wiped, off and nobody's. What a host boots is a script of the boot service, once.
 *
 * Promises what `MachineDriver` promises. Claims hosts by `inventory/claims` alone, under the hosts' versions: no host has two claims.
 */
import { Fault } from "@slipway/base";
import { installAgain } from "../../../inventory/claims/turn.ts";
import type { MachineDriver } from "../../machine.ts";
import type { DriverFactory } from "../../provider.ts";
import { hostTurn } from "./host-id.ts";
import { HostTurns } from "./host-turns.ts";
import { bootMacOf, machineOf } from "./observe.ts";
import { concernsAbout } from "./offer.ts";
import { imageOf, textsAgain } from "./operating-system.ts";
import { putScript } from "./script-secret.ts";

const REBOOT = "reboot.metal3.io";

/** The driver of one selection of hosts. Nothing is asked before the first call. */
export const createInventoryDriver: DriverFactory = ({ inventory: offer }, { hosts, log }): MachineDriver => {
  if (offer === undefined || hosts === undefined)
    throw new Fault("Invalid", "MachineProvider", "spec.inventory is not set", { remedy: "say which hosts it gives" });
  const turns = new HostTurns(hosts, offer, log);

  return {
    type: "inventory",
    capabilities: {
      networkModes: [],
      spot: false,
      reservations: false,
      reinstall: true,
      locks: false,
      userData: false,
    },
    check: (order) => concernsAbout(order, offer),
    imageOf: (operatingSystem) => imageOf(operatingSystem, offer),
    couldServe: (order) => turns.couldBegin(order),
    candidates: (order) => turns.candidates(order),
    list: () => turns.list(),
    find: (claim, signal) => turns.of(claim, signal),
    async read(id, signal) {
      const found = await turns.find(id, signal);
      return found && machineOf(found[0]);
    },

    async create(order, signal) {
      const problem = concernsAbout(order, offer).find(({ fatal }) => fatal);
      if (problem === undefined) return await turns.begin(order, signal);
      throw new Fault("Invalid", `host for ${order.hostname}`, `${problem.field}: ${problem.message}`, {
        remedy: "correct the manifest",
      });
    },

    async configure(id, { scriptUrl, seedUrl }, signal) {
      if (scriptUrl === undefined) return;
      const { host: ref, claim } = hostTurn(id);
      const [host] = await turns.known(id, signal);
      const boot = { scriptUrl, ...(seedUrl !== undefined && { seedUrl }) };
      await putScript(turns.client(signal), ref.namespace, { claim, texts: textsAgain(host, boot) });
    },

    async reinstall(id, boot, signal) {
      const client = turns.client(signal);
      const [host, consumer] = await turns.known(id, signal);
      await boot.forHost?.(bootMacOf(host) ?? "");
      await putScript(client, hostTurn(id).host.namespace, { claim: consumer.uid, texts: textsAgain(host, boot) });
      await installAgain(client, host, consumer);
    },

    power: (id, action, signal) =>
      turns.change(
        id,
        ({ spec }) => {
          if (action === "cycle") return { metadata: { annotations: { [REBOOT]: '{"mode":"hard"}' } } };
          const online = action === "on";
          return spec.online === online ? undefined : { spec: { online } };
        },
        signal,
      ),

    networkSettled: (_, { mode, vlans }) => (mode === undefined || mode === "layer3") && vlans.length === 0,
    async setNetwork(machine) {
      throw new Fault(
        "Invalid",
        `machine ${machine.id}`,
        "spec.networkingConfiguration: the ports of own hosts are set at their switches",
        {
          remedy: "take it out, or use type layer3 without VLANs",
        },
      );
    },

    release: (id, options, signal) => turns.end(id, options, signal),
    forget: (claim, signal) => turns.forget(claim, signal),
  };
};
