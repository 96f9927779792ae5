// configParams of initialize() (interface document 2.3, 2.4; requirement INIT-04).

import { note } from './result.ts';
import { cut, ignored, isObject } from './validate.ts';

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
type Read = (name: string, value: unknown) => unknown;

const aSwitch: Read = (name, value) => (typeof value === 'boolean' ? value : ignored(name, 'a boolean', value));

const aText =
  (limit: number, unit?: string): Read =>
  (name, value) =>
    typeof value === 'string' ? cut(name, value, limit, unit) : ignored(name, 'a string', value);

const anObject =
  (prefix: string, options: Record<string, Read>): Read =>
  (name, value) => {
    if (!isObject(value)) return ignored(name, 'an object', value);
    const kept: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) {
      const read = Object.hasOwn(options, key) && options[key];
      if (!read) note(`${prefix + key} is unknown and ignored`);
      else if (member !== undefined && member !== null) {
        const own = read(prefix + key, member);
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

/** Reads configParams; whatever is ignored, cut or dropped is named in the answer. */
export function readConfig(params: unknown): Config {
  return {
    collectLegacyStats: true,
    collectIP: true,
    ...(readOptions('configParams', params ?? {}) as object | undefined),
  };
}
