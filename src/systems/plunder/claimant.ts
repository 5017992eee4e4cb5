import type { Context, StatusFields } from "@slipway/kube";
import { imageBoot } from "../../bootstrap/image-boot.ts";
import { PlunderMachine } from "../../kinds/plunder/plunder-machine.ts";
import type { Claimant, Job } from "../../machines/claimant.ts";
import type { Fleet } from "../../machines/fleet.ts";
import type { Machine } from "../../machines/machine.ts";
import { StatusClaimant } from "../../machines/status-claimant.ts";
import { addressArguments, type MachineAddress } from "./address.ts";
import { claimOf, deploymentOf, hostNameOf, orderOf, type Wanted } from "./claim.ts";
import { unknownDeployment, unsetAddress } from "./deployment-types.ts";
import { journalOf } from "./journal.ts";
import { nameOf } from "./names.ts";
import type { MachineRecord, Plunder } from "./shared.ts";

export interface JobParts {
  record: MachineRecord;
  wanted: Omit<Wanted, "machine">;
  fleet: Fleet;
  /** Name of the MachineProvider. */
  provider: string;
  joined: boolean;
  /** From a pool. */
  address: MachineAddress | undefined;
  /** The bootstrap data, read when they are needed. */
  data: () => Promise<string>;
  /** The status as it should read with a host that was just taken. */
  describe: (machine: Machine) => object;
}

/** One step for a PlunderMachine's host. */
export function jobOf(plunder: Plunder, context: Context, parts: JobParts): Job & { monotonic: () => number } {
  const { clock, signal } = context;
  const claimant = new HostClaimant(plunder, context, parts);
  return { claimant, fleet: parts.fleet, clock, signal, monotonic: () => clock.monotonic() };
}

/** A PlunderMachine as the executor sees it: its journal is its status. */
class HostClaimant extends StatusClaimant<PlunderMachine> {
  readonly #plunder: Plunder;
  readonly #parts: JobParts;

  constructor(plunder: Plunder, context: Context, parts: JobParts) {
    super(context, parts.record, parts.describe as (machine: Machine) => StatusFields<PlunderMachine>);
    this.#plunder = plunder;
    this.#parts = parts;
  }

  get #wanted(): Wanted {
    return { ...this.#parts.wanted, machine: this.object };
  }

  get on() {
    return nameOf(this.object);
  }

  get claim() {
    return claimOf(this.#wanted, this.#plunder.pollMs);
  }

  get journal() {
    return journalOf(this.object, this.#parts.joined);
  }

  concerns() {
    const { dockerVersion } = this.object.spec;
    if (!dockerVersion) return [];
    return [{ field: "spec.dockerVersion", message: "machines run containerd, which their image has", fatal: false }];
  }

  order({ placement, boot }: Parameters<Claimant["order"]>[0]) {
    return orderOf(this.#wanted, { placement, boot });
  }

  async prepareBoot() {
    const { fleet, provider, data, address } = this.#parts;
    const machine = this.object;
    const name = deploymentOf(machine.spec);
    const image = fleet.driver.imageOf?.(name);
    if (image === undefined) throw unknownDeployment(this.on, name, provider);
    const isOnDisk = image === "onDisk";
    const problem = address && unsetAddress(this.on, name, { provider, isOnDisk, address: address.address });
    if (problem !== undefined) throw problem;
    const kernelArguments = address === undefined ? [] : addressArguments(address, hostNameOf(machine));
    return await imageBoot(this.context, this.#plunder.boots, {
      ...{ resource: PlunderMachine, object: machine, held: machine.status?.boot },
      image: isOnDisk ? image : { ...image, kernelArguments: [...image.kernelArguments, ...kernelArguments] },
      ...{ data: await data(), hostname: hostNameOf(machine), byMac: true },
    });
  }

  async discardBoot() {
    await this.#plunder.boots.store.remove(this.context.client, this.object.metadata.uid);
  }

  /** The original left no marks on machines: its objects are adopted by the MAC address in their providerID. */
  async unmarked() {
    return [];
  }

  protected ordering() {
    return { provider: this.#parts.provider };
  }

  protected bought({ machine: { id } }: { machine: Machine }) {
    return { instanceID: id, provider: this.#parts.provider };
  }
}
