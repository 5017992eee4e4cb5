/** Reserved blocks of addresses and what they are assigned to. Blocks come from documentation ranges (RFC 5737), so that they belong to nobody. */
import {
  addIp,
  type Cidr,
  contains,
  formatIp,
  overlaps,
  parseCidr,
  type Random,
  tryParseCidr,
  tryParseIp,
  uuid,
} from "@slipway/base";
import { notFound, unprocessable } from "./refused.ts";

export const BLOCK_TYPES = ["public_ipv4", "private_ipv4", "global_ipv4"] as const;
export type BlockType = (typeof BLOCK_TYPES)[number];

const RANGES: Readonly<Record<BlockType, string>> = {
  public_ipv4: "203.0.113.0/24",
  private_ipv4: "10.96.0.0/14",
  global_ipv4: "198.51.100.0/24",
};

/** A reserved block. */
export interface SimBlock {
  readonly id: string;
  readonly projectId: string;
  readonly type: BlockType;
  /** Unset: of no metro, as global ones are. */
  readonly metro: string | undefined;
  /** `203.0.113.8/30`. */
  readonly cidr: string;
  readonly createdAt: number;
  tags: readonly string[];
  details: string | undefined;
  customData: unknown;
}

/** Addresses of a block in use. */
export interface SimAssignment {
  readonly id: string;
  readonly blockId: string;
  /** The device or the metal gateway. */
  readonly to: string;
  readonly cidr: string;
  readonly createdAt: number;
}

export interface BlockWish {
  projectId: string;
  type: BlockType;
  metro: string | undefined;
  quantity: number;
  tags: readonly string[];
  details: string | undefined;
  customData: unknown;
}

/** All blocks of a cloud. */
export class Elastic {
  readonly blocks = new Map<string, SimBlock>();
  readonly assignments = new Map<string, SimAssignment>();
  /** How many blocks were ever reserved. */
  reservedEver = 0;

  /** Reserves the first free block of the size. Throws `Refused` (422). */
  reserve(wish: BlockWish, random: Random, now: number): SimBlock {
    const { quantity, ...rest } = wish;
    const bits = Math.log2(quantity);
    if (!Number.isInteger(bits) || quantity < 1 || quantity > 256)
      throw unprocessable("quantity must be a power of two from 1 to 256");
    const cidr = this.#firstFree(parseCidr(RANGES[wish.type]), 32 - bits);
    if (cidr === undefined) throw unprocessable(`There are not enough ${wish.type} addresses available`);
    const block = { ...rest, id: uuid(random), cidr, createdAt: now };
    this.blocks.set(block.id, block);
    this.reservedEver++;
    return block;
  }

  /** Assigns an address, or a part of a block, of the project. Throws `Refused` (422). */
  assign(
    { projectId, metro, address, to }: { projectId: string; metro: string; address: string; to: string },
    random: Random,
    now: number,
  ): SimAssignment {
    const wanted = cidrOf(address);
    if (wanted === undefined) throw unprocessable(`address ${address} is not a valid address`);
    const block = [...this.blocks.values()].find(
      (one) => one.projectId === projectId && contains(parseCidr(one.cidr), wanted),
    );
    if (block === undefined) throw unprocessable(`Address ${address} is not in a block that the project has reserved`);
    if (block.metro !== undefined && block.metro !== metro)
      throw unprocessable(`Address ${address} is reserved in metro ${block.metro}, not in ${metro}`);
    if (this.assignedIn(block).some((one) => overlaps(parseCidr(one.cidr), wanted)))
      throw unprocessable(`Address ${address} has already been assigned`);
    const cidr = cidrText(wanted);
    const assignment = { id: uuid(random), blockId: block.id, to, cidr, createdAt: now };
    this.assignments.set(assignment.id, assignment);
    return assignment;
  }

  assignedIn(block: SimBlock): SimAssignment[] {
    return [...this.assignments.values()].filter(({ blockId }) => blockId === block.id);
  }

  assignedTo(id: string): SimAssignment[] {
    return [...this.assignments.values()].filter(({ to }) => to === id);
  }

  blockOf({ blockId }: SimAssignment): SimBlock {
    return this.blocks.get(blockId)!;
  }

  /** Ends an assignment, or gives a block back that nothing is assigned of. Throws `Refused`. */
  remove(id: string): SimAssignment | undefined {
    const assignment = this.assignments.get(id);
    if (assignment !== undefined) {
      this.assignments.delete(id);
      return assignment;
    }
    const block = this.blocks.get(id);
    if (block === undefined) throw notFound();
    if (this.assignedIn(block).length > 0) throw unprocessable("IP reservation has assignments: end those first");
    this.blocks.delete(id);
    return undefined;
  }

  /** The parts of a size of a block that are not assigned. */
  available(block: SimBlock, prefix: number): string[] {
    const whole = parseCidr(block.cidr);
    const taken = this.assignedIn(block).map((one) => parseCidr(one.cidr));
    if (!Number.isInteger(prefix) || prefix < whole.prefix || prefix > 32) return [];
    const size = 2n ** BigInt(32 - prefix);
    return Array.from({ length: 2 ** (prefix - whole.prefix) }, (_, i) => ({
      address: addIp(whole.address, BigInt(i) * size),
      prefix,
    }))
      .filter((one) => !taken.some((other) => overlaps(other, one)))
      .map(cidrText);
  }

  /** Ends all assignments to what is gone. */
  release(to: string): void {
    for (const { id } of this.assignedTo(to)) this.assignments.delete(id);
  }

  #firstFree(range: Cidr, prefix: number): string | undefined {
    const size = 2n ** BigInt(32 - prefix);
    const taken = [...this.blocks.values()].map((block) => parseCidr(block.cidr));
    const end = range.address.value + 2n ** BigInt(32 - range.prefix);
    for (let value = range.address.value; value < end; value += size) {
      const found: Cidr = { address: { family: 4, value }, prefix };
      if (!taken.some((block) => overlaps(block, found))) return cidrText(found);
    }
    return undefined;
  }
}

function cidrOf(text: string): Cidr | undefined {
  const address = tryParseIp(text);
  return address?.family === 4 ? { address, prefix: 32 } : tryParseCidr(text);
}

function cidrText({ address, prefix }: Cidr): string {
  return `${formatIp(address)}/${prefix}`;
}
