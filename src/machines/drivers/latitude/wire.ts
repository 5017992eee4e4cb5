/** The parts of Latitude.sh's JSON that the driver reads or writes, spelled as in its OpenAPI document. Answers are not trusted to have them all. */

/** One resource of the JSON:API envelope. */
export interface Resource<A> {
  id: string;
  type?: string;
  attributes?: Partial<A> | undefined;
}

export interface ServerAttributes {
  hostname: string;
  label: string;
  status: string;
  site: string;
  locked: boolean;
  primary_ipv4: string | null;
  primary_ipv6: string | null;
  created_at: string | null;
  scheduled_deletion_at: string | null;
  plan: { slug?: string; name?: string };
  region: { site?: { slug?: string } };
  interfaces: readonly WireInterface[];
}

export interface WireInterface {
  role?: string;
  name?: string;
  mac_address?: string | null;
}

export type WireServer = Resource<ServerAttributes>;

export interface UserDataAttributes {
  description: string;
  created_at: string;
  updated_at: string;
}

export type WireUserData = Resource<UserDataAttributes>;

export type WireNetwork = Resource<{ vid: number; site: string; region: { site?: { slug?: string } } }>;

export type WireAssignment = Resource<{
  virtual_network_id: string;
  vid: number;
  server_id: string;
  server: { id?: string };
}>;

export type WireProject = Resource<{ name: string; slug: string }>;

export type DeployConfig = Partial<{ user_data: string | null; operating_system: string; hostname: string }>;

/** Attributes of `POST /servers`. */
export interface OrderAttributes {
  project: string;
  plan: string;
  site: string;
  operating_system: string;
  hostname: string;
  user_data: string;
  ssh_keys?: readonly string[];
  ipxe?: string;
  billing?: string;
}

export interface PlanAttributes {
  slug: string;
  regions: readonly {
    locations?: { available?: readonly string[] };
    pricing?: { USD?: { hour?: number | null } };
  }[];
}

export type WirePlan = Resource<PlanAttributes>;
