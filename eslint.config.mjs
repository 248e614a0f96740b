// The rules find faults; they do not check style.
import js from "@eslint/js";
import noUnsanitized from "eslint-plugin-no-unsanitized";
import globals from "globals";
import tseslint from "typescript-eslint";

export default [
  { ignores: ["src/waitroom/server/static_built/", "packages/*/types/", "packages/*/dist/", "examples/react/"] },
  js.configs.recommended,
  noUnsanitized.configs.recommended, // names come from strangers: we write text, never HTML
  {
    plugins: { "@typescript-eslint": tseslint.plugin },
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "@typescript-eslint/await-thenable": "error",
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: false }],
      "@typescript-eslint/only-throw-error": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-script-url": "error",
      "no-shadow": "error",
      "no-var": "error",
      "prefer-const": "error",
      eqeqeq: "error",
    },
  },
  {
    files: ["**/*.ts"], // tsc knows their names better
    rules: { "no-undef": "off", "no-unused-vars": "off", "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }] },
  },
  { files: ["src/**", "examples/concert/**"], languageOptions: { globals: globals.browser } },
  { files: ["examples/node/**"], languageOptions: { globals: globals.node } },
  { files: ["packages/gate/src/**"], languageOptions: { globals: globals["shared-node-browser"] } },
];
