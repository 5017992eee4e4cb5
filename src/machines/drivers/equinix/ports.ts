import type { NetworkMode, NetworkWish, Port } from "../../machine.ts";
import type { PortAction, PortCall } from "./client.ts";

export type PortStep = PortCall & { name: string };

/** What a mode asks of the ports. Layer of the first bond, of all other bonds (undefined: as it is), and which ports leave their bond. */
interface Shape {
  first: 2 | 3;
  others: 2 | undefined;
  individual: (port: Port) => boolean;
}

const nobody = (): boolean => false;

const SHAPES: Readonly<Record<NetworkMode, Shape>> = {
  layer3: { first: 3, others: undefined, individual: nobody },
  hybrid: { first: 3, others: undefined, individual: (port) => isOdd(port.name) },
  "hybrid-bonded": { first: 3, others: undefined, individual: nobody },
  "layer2-bonded": { first: 2, others: 2, individual: nobody },
  "layer2-individual": { first: 2, others: 2, individual: () => true },
};

/**
 * The calls that bring the ports from where they stand to where they are wished, and no other: none when they stand there.
 *
 * Order: remove surplus VLANs, disbond, layer 2, bond, layer 3, add missing VLANs. With a mode the wish is the whole truth, so a VLAN it
 * does not name is surplus on any port; without one only the named ports are looked at. `wish` names VLANs by number. Pure.
 */
export function portSteps(ports: readonly Port[], wish: NetworkWish): readonly PortStep[] {
  const shape = wish.mode === undefined ? undefined : SHAPES[wish.mode];
  const bonds = ports.filter((port) => port.kind === "bond").sort(byName);
  const physical = ports.filter((port) => port.kind === "physical").sort(byName);
  const toLayer = (layer: 2 | 3): readonly Port[] =>
    shape === undefined ? [] : bonds.filter((bond, i) => layerOf(bond) !== layer && layerWished(shape, i) === layer);
  const becomeLayer3 = toLayer(3);

  return [
    ...ports.flatMap((port) => removals(port, wish, becomeLayer3.includes(port))),
    ...(shape === undefined ? [] : disbonds(physical, shape)),
    ...toLayer(2).map((bond) => step(bond, { do: "layer-2" })),
    ...(shape === undefined ? [] : physical.filter((port) => !port.bonded && !leaves(port, shape))).map((port) =>
      step(port, { do: "bond" }),
    ),
    ...becomeLayer3.map((bond) => step(bond, { do: "layer-3" })),
    ...ports.flatMap((port) => additions(port, wish, becomeLayer3.includes(port))),
  ];
}

/** What of the wish these ports can't be brought to, whatever calls are made; empty where they can. Pure. */
export function unmet(ports: readonly Port[], wish: NetworkWish): readonly string[] {
  if (ports.length === 0) return ["the API names no ports of it"];
  const names = ports.map((port) => port.name);
  const absent = wish.vlans.filter(({ port }) => !names.includes(port)).map(({ port }) => port);
  const missing = absent.length === 0 ? [] : [`it has no port ${absent.join(", ")}: its ports are ${names.join(", ")}`];
  const free = wish.mode !== "hybrid" || ports.some((port) => port.kind === "physical" && leaves(port, SHAPES.hybrid));
  return free ? missing : [...missing, "none of its ports can leave the bond, which hybrid needs"];
}

function removals(port: Port, wish: NetworkWish, all: boolean): PortStep[] {
  const wanted = vlansFor(port, wish);
  // The conversion to layer 3 wants the bond free of VLANs; those that are wished come back after it.
  const surplus = all ? port.vlans : wanted === undefined ? [] : port.vlans.filter((vlan) => !wanted.includes(vlan));
  const native = port.nativeVlan !== undefined && surplus.includes(port.nativeVlan);
  return [
    ...(native ? [step(port, { do: "clear-native" })] : []),
    ...surplus.map((vlan) => step(port, { do: "unassign", vlan })),
  ];
}

function additions(port: Port, wish: NetworkWish, cleared: boolean): PortStep[] {
  const missing = (vlansFor(port, wish) ?? []).filter((vlan) => cleared || !port.vlans.includes(vlan));
  return [...new Set(missing)].map((vlan) => step(port, { do: "assign", vlan }));
}

/** One call takes a whole bond apart where all its ports leave it. */
function disbonds(physical: readonly Port[], shape: Shape): PortStep[] {
  const leaving = physical.filter((port) => port.bonded && leaves(port, shape));
  const groups = Map.groupBy(leaving, (port) => port.bond ?? port.id);
  return [...groups.values()].flatMap((group) => {
    const members = physical.filter((port) => port.bond !== undefined && port.bond === group[0]!.bond);
    if (group.length > 1 && group.length === members.length) return [step(group[0]!, { do: "disbond", bulk: true })];
    return group.map((port) => step(port, { do: "disbond", bulk: false }));
  });
}

/** The VLANs wished on a port; undefined: the wish does not care. */
function vlansFor(port: Port, wish: NetworkWish): readonly string[] | undefined {
  const named = wish.vlans.filter((entry) => entry.port === port.name);
  if (named.length === 0 && wish.mode === undefined) return undefined;
  return named.flatMap((entry) => entry.vlans);
}

function step(port: Port, action: PortAction): PortStep {
  return { ...action, port: port.id, name: port.name };
}

function layerWished(shape: Shape, index: number): 2 | 3 | undefined {
  return index === 0 ? shape.first : shape.others;
}

function layerOf(bond: Port): 2 | 3 {
  return bond.networkType?.startsWith("layer2") ? 2 : 3;
}

function leaves(port: Port, shape: Shape): boolean {
  return port.disbondable && shape.individual(port);
}

function isOdd(name: string): boolean {
  return Number(/\d+$/.exec(name)?.[0] ?? 0) % 2 === 1;
}

function byName(a: Port, b: Port): number {
  return a.name.localeCompare(b.name, "en", { numeric: true });
}
