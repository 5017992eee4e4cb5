import { networkInterfaces } from "node:os";
import { Fault, isFault } from "@slipway/base";
import type { InheritedSockets } from "../sockets/inherited.ts";
import { openOnDevice } from "../sockets/on-device.ts";
import { type OpenSocket, openDatagramSocket, pairOf, receiveFrom, sendBy } from "./socket.ts";
import { type Ipv4, maskOf, parseIpv4 } from "./wire/ipv4.ts";

/** A network interface of this machine. */
export interface Interface {
  name: string;
  /** In the order of the system; never empty. */
  addresses: readonly { address: Ipv4; mask: Ipv4 }[];
  /** No other interface, the loopback aside, has an IPv4 address: every packet came by this one. */
  alone: boolean;
}

type All = ReturnType<typeof networkInterfaces>;

/** The only interface with an address that others could send to. Throws a `Fault` that names them when there is not just one. */
export function onlyInterface(all: All = networkInterfaces()): Interface {
  const names = [...reachable(all).keys()];
  const [name] = names;
  if (name !== undefined && names.length === 1) return interfaceNamed(name, all);
  const found = name === undefined ? "none has an IPv4 address" : `there are ${names.join(", ")}`;
  throw new Fault("Invalid", "interface", found, {
    remedy: "name the one that machines are reached by with --interface",
  });
}

/** The interface of that name. Throws a `Fault` when there is none, or it has no IPv4 address that others could send to. */
export function interfaceNamed(name: string, all: All = networkInterfaces()): Interface {
  const known = reachable(all);
  const addresses = known.get(name);
  const others = [...known.keys()].filter((each) => each !== name);
  if (addresses === undefined)
    throw new Fault("Invalid", `interface ${name}`, "there is none of this name with an IPv4 address", {
      remedy: others.length === 0 ? "give one an address with ip addr add" : `there are ${others.join(", ")}`,
    });
  return { name, addresses, alone: others.length === 0 };
}

/** The IPv4 addresses that others could send to, by interface. */
function reachable(all: All): Map<string, Interface["addresses"]> {
  const found = new Map<string, Interface["addresses"]>();
  for (const [name, given = []] of Object.entries(all)) {
    const addresses = given
      .filter(({ family, internal }) => family === "IPv4" && !internal)
      .map(({ address, cidr }) => ({ address: parseIpv4(address), mask: maskOf(Number(cidr?.split("/")[1] ?? 32)) }));
    if (addresses.length > 0) found.set(name, addresses);
  }
  return found;
}

/**
 * Sockets that receive from this interface alone: those that systemd has bound to it, else ones that are bound to it here
 * (`sockets/on-device.ts`), else, where it is the only interface, ordinary ones. Opening rejects with a `Fault` that names these ways.
 */
export function openOn({ name, alone }: Interface, inherited?: InheritedSockets): OpenSocket {
  const bound = pairOf((address, port) => openOnDevice({ device: name, address, port }));
  return async (address, port, receive) => {
    const given = inherited?.find(port, name);
    if (given !== undefined) {
      const stop = receiveFrom(given, receive);
      // It stays open, for the next start of the service.
      return { port, send: (bytes, to) => sendBy(given, bytes, to), close: async () => stop() };
    }
    try {
      return await bound(address, port, receive);
    } catch (cause) {
      if (!isFault(cause, "MissingInput")) throw cause;
      if (alone) return openDatagramSocket(address, port, receive);
      throw new Fault(
        "MissingInput",
        `interface ${name}`,
        "its broadcasts can't be distinguished from those of the others",
        {
          remedy:
            "install perl (Debian: perl-base), or start it by a systemd socket unit with BindToDevice=, or where this is the only interface",
          cause,
        },
      );
    }
  };
}
