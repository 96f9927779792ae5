// configParams of initialize() (interface document 2.3, 2.4; requirement INIT-04).

import { cut, isObject, kindOf } from './validate.ts';

/** The options in force, defaults filled in; a switch that is missing is off. */
export interface Config {
  disableBeforeUnloadHandler?: boolean;
  disablePrecalltest?: boolean;
  collectLegacyStats: boolean;
  collectIP: boolean;
  applicationVersion?: string;
  siteID?: string;
  backendUrl?: string;
  additionalIDs?: Record<string, string>;
}

/** Reads the value of an option: what is kept of it, undefined for nothing. */
type Read = (name: string, value: unknown, notes: string[]) => unknown;

const drop = (name: string, wanted: string, value: unknown, notes: string[]) => {
  notes.push(`${name} must be ${wanted}, got ${kindOf(value)}: ignored`);
};

const aSwitch: Read = (name, value, notes) =>
  typeof value === 'boolean' ? value : drop(name, 'a boolean', value, notes);

const aText =
  (limit: number, unit?: string): Read =>
  (name, value, notes) =>
    typeof value === 'string' ? cut(name, value, limit, notes, unit) : drop(name, 'a string', value, notes);

const anObject =
  (prefix: string, options: Record<string, Read>): Read =>
  (name, value, notes) => {
    if (!isObject(value)) return drop(name, 'an object', value, notes);
    const kept: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) {
      const read = Object.hasOwn(options, key) && options[key];
      if (!read) notes.push(`${prefix + key} is unknown and ignored`);
      else if (member !== undefined && member !== null) {
        const own = read(prefix + key, member, notes);
        if (own !== undefined) kept[key] = own;
      }
    }
    return kept;
  };

const additionalIDs =
  'customerID tenantID productName meetingsName serverName pbxID pbxExtensionID fqExtensionID sessionID';

const readOptions = anObject('', {
  disableBeforeUnloadHandler: aSwitch,
  disablePrecalltest: aSwitch,
  collectLegacyStats: aSwitch,
  collectIP: aSwitch,
  applicationVersion: aText(30, 'characters'),
  siteID: aText(256),
  backendUrl: aText(4096),
  additionalIDs: anObject(
    'additionalIDs.',
    Object.fromEntries(additionalIDs.split(' ').map((key) => [key, aText(256)])),
  ),
});

/** Reads configParams; whatever is ignored, cut or dropped is named in notes. */
export function readConfig(params: unknown, notes: string[]): Config {
  return {
    collectLegacyStats: true,
    collectIP: true,
    ...(readOptions('configParams', params ?? {}, notes) as object | undefined),
  };
}
