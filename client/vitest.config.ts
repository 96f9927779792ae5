import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as { version: string };

export default defineConfig({
  define: { __QOS_VERSION__: JSON.stringify(version) },
  // The limit ends what hangs; nothing is timed.
  test: {
    environment: 'node',
    include: ['test/**/*.test.ts'],
    restoreMocks: true,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
