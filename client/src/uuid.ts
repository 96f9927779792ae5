// Session ids (protocol section 2).

/** A UUID version 7 (RFC 9562) of that time in ms. */
export function uuidv7(ms: number): string {
  const random = Array.from(crypto.getRandomValues(new Uint8Array(9)), (byte) => hex(byte, 2)).join('');
  return `${hex(ms, 12)}7${random.slice(0, 3)}8${random.slice(3)}`.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
