// Modules of the dashboard's pages, which are plain JavaScript without types.

const directory = new URL('../../../extensions/dashboardextension/web/js/', import.meta.url);

// biome-ignore lint/suspicious/noExplicitAny: the pages have no types
export const pageModule = (name: string): Promise<any> => import(/* @vite-ignore */ new URL(name, directory).href);
