/** Addresses of an account that may be moved between its machines, and announcing them by BGP. A part of the machine port for providers that have them. */

/** A reserved address. */
export interface ElasticAddress {
  /** Id of the reservation. */
  id: string;
  address: string;
  tags: readonly string[];
  metro: string | undefined;
  /** Where it is assigned: ids of the assignments, with the machine's id where it is a machine. */
  assignments: readonly { id: string; machine: string | undefined }[];
}

export interface AddressOrder {
  metro: string;
  tags: readonly string[];
  /** Whose project it is to be in; unset: the account's. */
  projectId?: string;
}

/** How a project may announce addresses. */
export interface BgpWish {
  asn: number;
  /** Unset: none. */
  password?: string;
}

/** Calls fail as those of `MachineDriver`. */
export interface ElasticAddresses {
  /** Every public IPv4 address that the project has reserved, all pages. */
  list(signal?: AbortSignal): Promise<readonly ElasticAddress[]>;
  /** Reserves one. Not repeated inside: after `LostAnswer` the caller looks. Fails where an approval by people would be needed. */
  reserve(order: AddressOrder, signal?: AbortSignal): Promise<ElasticAddress>;
  /** Assigns it to a machine of the same metro. Resolves also where it has it already. */
  assign(address: ElasticAddress, machine: string, signal?: AbortSignal): Promise<void>;
  /** Ends its assignments and gives it back. Resolves also where it is gone. */
  release(id: string, signal?: AbortSignal): Promise<void>;
  /** Lets the project announce addresses. Resolves also where it may already. */
  enableBgp(wish: BgpWish, signal?: AbortSignal): Promise<void>;
  /** Opens a machine's session with the routers beside it. Resolves also where there is one. */
  openSession(machine: string, signal?: AbortSignal): Promise<void>;
}
