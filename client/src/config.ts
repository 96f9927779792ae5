// configParams of initialize() (interface document 2.3, 2.4; requirement INIT-04).

import { byteLength, cutBytes, cutChars, isObject, kindOf } from './validate.ts';

/** The options in force, defaults filled in. */
export interface Config {
  disableBeforeUnloadHandler: boolean;
  disablePrecalltest: boolean;
  collectLegacyStats: boolean;
  collectIP: boolean;
  applicationVersion?: string;
  siteID?: string;
  backendUrl?: string;
  additionalIDs?: Record<string, string>;
}

const additionalKeys = [
  'customerID',
  'tenantID',
  'productName',
  'meetingsName',
  'serverName',
  'pbxID',
  'pbxExtensionID',
  'fqExtensionID',
  'sessionID',
];

/** Reads configParams; whatever is ignored, cut or dropped is named in notes. */
export function readConfig(params: unknown, notes: string[]): Config {
  const config: Config = {
    disableBeforeUnloadHandler: false,
    disablePrecalltest: false,
    collectLegacyStats: true,
    collectIP: true,
  };
  if (params === undefined || params === null) return config;
  if (!isObject(params)) {
    notes.push(`configParams must be an object, got ${kindOf(params)}: ignored`);
    return config;
  }
  for (const [key, value] of Object.entries(params)) {
    if (value !== undefined && value !== null) readKey(config, key, value, notes);
  }
  return config;
}

function readKey(config: Config, key: string, value: unknown, notes: string[]): void {
  switch (key) {
    case 'disableBeforeUnloadHandler':
    case 'disablePrecalltest':
    case 'collectLegacyStats':
    case 'collectIP':
      if (typeof value === 'boolean') config[key] = value;
      else dropped(key, 'a boolean', value, notes);
      return;
    case 'applicationVersion':
    case 'siteID':
    case 'backendUrl': {
      const text = readText(key, value, notes);
      if (text !== null) config[key] = text;
      return;
    }
    case 'additionalIDs':
      if (isObject(value)) config.additionalIDs = readAdditional(value, notes);
      else dropped(key, 'an object', value, notes);
      return;
    default:
      notes.push(`${key} is unknown and ignored`);
  }
}

function readAdditional(value: Record<string, unknown>, notes: string[]): Record<string, string> {
  const ids: Record<string, string> = {};
  for (const [key, id] of Object.entries(value)) {
    const name = `additionalIDs.${key}`;
    if (!additionalKeys.includes(key)) notes.push(`${name} is unknown and ignored`);
    else if (id !== undefined && id !== null) {
      const text = readText(name, id, notes);
      if (text !== null) ids[key] = text;
    }
  }
  return ids;
}

function readText(name: string, value: unknown, notes: string[]): string | null {
  if (typeof value !== 'string') {
    dropped(name, 'a string', value, notes);
    return null;
  }
  if (name === 'backendUrl') return value;
  const cut = name === 'applicationVersion' ? cutChars(value, 30) : cutBytes(value, 256);
  if (cut !== value)
    notes.push(`${name} was cut to ${name === 'applicationVersion' ? '30 characters' : `${byteLength(cut)} bytes`}`);
  return cut;
}

function dropped(name: string, wanted: string, value: unknown, notes: string[]): void {
  notes.push(`${name} must be ${wanted}, got ${kindOf(value)}: ignored`);
}
