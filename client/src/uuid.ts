// Session ids (protocol section 2).

/** A UUID version 7 (RFC 9562) of that time in ms. */
export function uuidv7(ms: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  let hex = '';
  bytes.forEach((byte, i) => {
    let value = byte;
    if (i < 6) value = Math.floor(ms / 2 ** (40 - 8 * i)) % 256;
    else if (i === 6) value = (byte & 0x0f) | 0x70;
    else if (i === 8) value = (byte & 0x3f) | 0x80;
    hex += value.toString(16).padStart(2, '0');
  });
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
