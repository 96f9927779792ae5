/** The version of the library; the build takes it from package.json. */
export const version: string = __QOS_VERSION__;

declare const __QOS_VERSION__: string;
