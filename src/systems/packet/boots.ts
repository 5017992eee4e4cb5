import { Fault, parseTime } from "@slipway/base";
import type { Context } from "@slipway/kube";
import type { BootStore } from "../../bootstrap/boot-store.ts";
import { bootIdOf } from "../../bootstrap/boot-url.ts";
import { imageBoot } from "../../bootstrap/image-boot.ts";
import { PacketMachine } from "../../kinds/packet/packet-machine.ts";
import type { PreparedBoot } from "../../machines/claimant.ts";
import type { MachineDriver } from "../../machines/machine.ts";

export interface BootSettings {
  /** Base URL of the boot service as machines reach it. */
  url: string;
  store: BootStore;
  /** Tells the log's redaction of values that must not leave. */
  onSecret?: (value: string) => void;
}

/** Whether machines of this driver fetch their bootstrap data from the boot service, which then knows how far they are. */
export function fetchesBoot(driver: MachineDriver): boolean {
  return !driver.capabilities.userData;
}

/** What PacketMachines boot with: user data where the provider hands them to the machine, else an image from the network that fetches them from the boot service. */
export class MachineBoots {
  readonly #settings: BootSettings;

  constructor(settings: BootSettings) {
    this.#settings = settings;
  }

  /** The boot of the machine's order, or of an installation anew. The one that the status names is used again while it lasts. */
  async prepare(
    context: Context,
    machine: PacketMachine,
    of: { driver: MachineDriver; data: string },
  ): Promise<PreparedBoot> {
    return fetchesBoot(of.driver)
      ? await this.#fromNetwork(context, machine, of)
      : this.#byProvider(context, machine, of.data);
  }

  /** The provider keeps the user data with the machine. They are bootstrap data: a token of some minutes, no key. */
  #byProvider({ clock }: Context, { metadata, spec, status }: PacketMachine, data: string): PreparedBoot {
    const held = status?.boot;
    return {
      id: held?.id ?? bootIdOf(metadata.uid),
      at: parseTime(held?.at) ?? clock.now(),
      scriptUrl: spec.ipxeURL ?? "",
      userData: data,
      publish: async () => {},
    };
  }

  async #fromNetwork(
    context: Context,
    machine: PacketMachine,
    { driver, data }: { driver: MachineDriver; data: string },
  ): Promise<PreparedBoot> {
    const { metadata, spec, status } = machine;
    const image = driver.imageOf?.(spec.os);
    if (image === undefined)
      throw new Fault(
        "Invalid",
        `PacketMachine/${metadata.namespace}/${metadata.name}`,
        `spec.os: the MachineProvider does not say what boots as ${spec.os}`,
        {
          remedy: `add ${spec.os} to its spec.inventory.operatingSystems`,
        },
      );
    return await imageBoot(context, this.#settings, {
      ...{ resource: PacketMachine, object: machine, held: status?.boot, image, data, hostname: metadata.name },
    });
  }

  /** Nothing that was prepared for the machine may be fetched any more. */
  async remove({ client }: Context, { metadata }: PacketMachine): Promise<void> {
    await this.#settings.store.remove(client, metadata.uid);
  }
}
