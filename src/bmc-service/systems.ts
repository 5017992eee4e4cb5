import { VERSION } from "@slipway/base";
import { collection, type Described, link } from "./answer.ts";
import { type ManagedMachine, type ResetType, takesBootUri } from "./machine.ts";
import { ROOT } from "./root.ts";

export const RESETS: readonly ResetType[] = ["On", "ForceOff", "GracefulShutdown", "ForceRestart", "GracefulRestart"];

const OK = { State: "Enabled", Health: "OK" };

/** The collection of machines. */
export function systemsBody(machines: readonly ManagedMachine[]): Described {
  return collection(`${ROOT}/Systems`, "ComputerSystemCollection", "Systems", machines.map(pathOfSystem));
}

/** Path of a machine's ComputerSystem. */
export function pathOfSystem({ id }: ManagedMachine): string {
  return `${ROOT}/Systems/${id}`;
}

function pathOfManager({ id }: ManagedMachine): string {
  return `${ROOT}/Managers/${id}`;
}

/** A machine as it is now: power, boot override and what it may be set to. */
export function systemBody(machine: ManagedMachine): Described {
  const path = pathOfSystem(machine);
  const { enabled, target, mode, httpBootUri } = machine.boot();
  const power = machine.power();
  return {
    ...link(path),
    "@odata.type": "#ComputerSystem.v1_23_1.ComputerSystem",
    Id: machine.id,
    Name: machine.name,
    SystemType: "Virtual",
    Manufacturer: machine.manufacturer,
    Model: machine.model,
    SerialNumber: machine.serial,
    UUID: machine.uuid,
    PowerState: power,
    Status: { ...OK, State: power === "Off" ? "Disabled" : "Enabled" },
    Boot: {
      BootSourceOverrideEnabled: enabled,
      BootSourceOverrideTarget: enabled === "Disabled" ? "None" : target,
      "BootSourceOverrideTarget@Redfish.AllowableValues": [
        "None",
        ...machine.bootTargets.filter((one) => one !== "None"),
      ],
      BootSourceOverrideMode: mode,
      "BootSourceOverrideMode@Redfish.AllowableValues": machine.bootModes,
      ...(takesBootUri(machine) && { HttpBootUri: httpBootUri ?? null }),
    },
    ...(machine.memoryMiB !== undefined && {
      MemorySummary: { TotalSystemMemoryGiB: machine.memoryMiB / 1024, Status: OK },
    }),
    ...(machine.processors !== undefined && { ProcessorSummary: { Count: machine.processors, Status: OK } }),
    EthernetInterfaces: link(`${path}/EthernetInterfaces`),
    VirtualMedia: link(`${path}/VirtualMedia`),
    Links: { ManagedBy: [link(pathOfManager(machine))], Chassis: [] },
    Actions: {
      "#ComputerSystem.Reset": {
        target: `${path}/Actions/ComputerSystem.Reset`,
        "ResetType@Redfish.AllowableValues": RESETS,
      },
    },
  };
}

/** The collection of a machine's network cards, numbered from 1. */
export function cardsBody(machine: ManagedMachine): Described {
  const path = `${pathOfSystem(machine)}/EthernetInterfaces`;
  const cards = machine.macs.map((_, i) => `${path}/${i + 1}`);
  return collection(path, "EthernetInterfaceCollection", "Ethernet Interfaces", cards);
}

/** One network card; undefined where there is none of that number. */
export function cardBody(machine: ManagedMachine, id: string): Described | undefined {
  const mac = /^[1-9]\d{0,3}$/.test(id) ? machine.macs[Number(id) - 1] : undefined;
  if (mac === undefined) return undefined;
  return {
    ...link(`${pathOfSystem(machine)}/EthernetInterfaces/${id}`),
    "@odata.type": "#EthernetInterface.v1_12_3.EthernetInterface",
    Id: id,
    Name: `Card ${id}`,
    PermanentMACAddress: mac,
    MACAddress: mac,
    InterfaceEnabled: true,
    Status: OK,
  };
}

/** The collection of a machine's virtual media: one CD. */
export function mediasBody(machine: ManagedMachine): Described {
  const path = `${pathOfSystem(machine)}/VirtualMedia`;
  return collection(path, "VirtualMediaCollection", "Virtual Media", [`${path}/Cd`]);
}

/** The virtual CD and the image in it. */
export function mediaBody(machine: ManagedMachine): Described {
  const path = `${pathOfSystem(machine)}/VirtualMedia/Cd`;
  const image = machine.media();
  return {
    ...link(path),
    "@odata.type": "#VirtualMedia.v1_6_4.VirtualMedia",
    Id: "Cd",
    Name: "Virtual CD",
    MediaTypes: ["CD", "DVD"],
    Image: image ?? null,
    ImageName: image === undefined ? null : (new URL(image).pathname.split("/").at(-1) ?? null),
    Inserted: image !== undefined,
    ConnectedVia: image === undefined ? "NotConnected" : "URI",
    WriteProtected: true,
    Actions: {
      "#VirtualMedia.InsertMedia": { target: `${path}/Actions/VirtualMedia.InsertMedia` },
      "#VirtualMedia.EjectMedia": { target: `${path}/Actions/VirtualMedia.EjectMedia` },
    },
  };
}

/** The collection of managers. */
export function managersBody(machines: readonly ManagedMachine[]): Described {
  return collection(`${ROOT}/Managers`, "ManagerCollection", "Managers", machines.map(pathOfManager));
}

/** One manager a machine, for clients that look for virtual media there. */
export function managerBody(machine: ManagedMachine, serviceUuid: string): Described {
  return {
    ...link(pathOfManager(machine)),
    "@odata.type": "#Manager.v1_20_0.Manager",
    Id: machine.id,
    Name: `Manager of ${machine.name}`,
    ManagerType: "BMC",
    Manufacturer: "Slipway",
    Model: "Slipway",
    UUID: machine.uuid,
    ServiceEntryPointUUID: serviceUuid,
    FirmwareVersion: VERSION,
    Status: OK,
    VirtualMedia: link(`${pathOfSystem(machine)}/VirtualMedia`),
    Links: { ManagerForServers: [link(pathOfSystem(machine))] },
  };
}
