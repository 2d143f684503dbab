/** Unit, contract, integration and end-to-end specs; `npm run test:*` selects by suffix. */
export default {
  roots: [
    '<rootDir>/libs',
    '<rootDir>/services',
    '<rootDir>/cli',
    '<rootDir>/bench',
    '<rootDir>/examples',
    '<rootDir>/deploy',
    '<rootDir>/test',
  ],
  testMatch: ['**/*.spec.ts'],
  // A hang, not slowness: a loaded disk can hold one commit up for seconds.
  testTimeout: 30_000,
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['/dist/'],
  globalSetup: '<rootDir>/test/global-setup.mjs',
  globalTeardown: '<rootDir>/test/global-teardown.mjs',
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['@fixpoint/source', 'node', 'node-addons'] },
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2024',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true },
        },
        module: { type: 'es6' },
      },
    ],
  },
};
