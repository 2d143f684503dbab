/**
 * Who may import whom. `tools/check-imports.ts` runs these rules and proves that every module was looked at.
 * Type-only imports count. TypeScript 7 has no API that dependency-cruiser could use, hence the SWC parser.
 */
const TEST_CODE = '[.](spec|contract|fixture)[.]ts$|/test/|^test/|^tools/|^libs/testing/|^libs/decider/src/given[.]ts$';
const DOMAIN = '^services/[^/]+/src/(domain|reactions)/';

/** @param {string} name @param {string} comment @param {{ from: object, to: object }} edge */
const forbid = (name, comment, { from, to }) => ({ name, comment, severity: /** @type {const} */ ('error'), from, to });

export default {
  forbidden: [
    forbid('no-cycles', 'A cycle has no order to read it in: move the shared type down, or merge.', {
      from: {},
      to: { circular: true },
    }),
    forbid('resolvable', 'The import leads nowhere.', { from: {}, to: { couldNotResolve: true } }),
    forbid('services-are-strangers', 'Services meet in contracts only.', {
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    }),
    forbid('services-know-no-starter', 'A service does not know who starts or drives it.', {
      from: { path: '^services/' },
      to: { path: '^(deploy|cli|bench|examples)/' },
    }),
    forbid('libs-know-no-service', 'Libraries are below services.', {
      from: { path: '^libs/' },
      to: { path: '^(services|deploy|cli|bench|examples|tools)/' },
    }),
    forbid('contracts-and-decider-are-the-ground', 'contracts and decider import nothing of ours.', {
      from: { path: '^libs/(contracts|decider)/' },
      to: { path: '^(libs|services|deploy|cli|bench|examples|tools)/', pathNot: '^libs/$1/' },
    }),
    forbid(
      'domain-is-pure',
      'Domain and reactions import contracts, decider, types of documents and hashing; nothing else.',
      {
        from: { path: DOMAIN, pathNot: '[.](spec|fixture)[.]ts$' },
        to: { pathNot: [DOMAIN, '^libs/(contracts|decider|documents)/', '^(node:)?crypto$'] },
      },
    ),
    forbid('domain-takes-only-types-of-documents', 'Parsing and linting are not decisions: write `import type`.', {
      from: { path: DOMAIN, pathNot: '[.](spec|fixture)[.]ts$' },
      to: { path: '^libs/documents/', dependencyTypesNot: ['type-only'] },
    }),
    forbid('domain-stays-in-its-service', 'The domain of one service is not the domain of another.', {
      from: { path: '^services/([^/]+)/src/(domain|reactions)/' },
      to: { path: '^services/', pathNot: '^services/$1/src/(domain|reactions)/' },
    }),
    forbid('nest-stays-at-the-edge', 'Nest appears in libs/runtime, *.module.ts, http/ and main.ts.', {
      from: {
        path: '^(libs|services|deploy|cli|bench|examples)/',
        pathNot: ['^libs/runtime/', '[.]module[.]ts$', '/src/http/', '/main[.]ts$', TEST_CODE],
      },
      to: { path: 'node_modules/(@nestjs|fastify|@fastify|rxjs|reflect-metadata)/' },
    }),
    forbid('no-test-code-in-production', 'Specs, contract suites, fixtures and libs/testing are for tests.', {
      from: { path: '^(libs|services|deploy|cli|bench|examples)/', pathNot: TEST_CODE },
      to: { path: TEST_CODE },
    }),
    forbid('no-test-packages-in-production', 'Test packages are development dependencies.', {
      from: { path: '^(libs|services|deploy|cli|bench|examples)/', pathNot: TEST_CODE },
      to: { path: 'node_modules/(@jest|jest|fast-check)/' },
    }),
    forbid('declared-dependencies', 'Production code imports only what a package.json declares.', {
      from: { path: '^(libs|services|deploy|cli|bench|examples)/', pathNot: TEST_CODE },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'], pathNot: '^libs/|^services/|^deploy/' },
    }),
  ],
  options: {
    parser: /** @type {const} */ ('swc'),
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^((libs|services|deploy)/[^/]+|cli|bench|examples)/dist/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@fixpoint/source', 'import', 'node', 'default'],
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
  },
};
