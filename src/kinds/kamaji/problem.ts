/** A fault of one field: a path such as `spec.networkProfile.podCidrs[0]`, and a sentence that ends with what to do. */
export interface Problem {
  field: string;
  message: string;
}

/** A user's text as it stands in a message, cut where it is too long to read. */
export const quoted = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
