package main

import (
	"regexp"
	"slices"
	"testing"

	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/framework/pytest"
	"github.com/triagebot/triagebot/internal/framework/vitest"
)

func TestFieldsOfSettingsAreReadAsVariables(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		framework, text string
		names, want     []string
	}{
		"a class of pydantic": {pytest.Name, "class Settings(BaseSettings):\n    database_url: str\n    debug = False\n",
			[]string{"DATABASE_URL", "DEBUG", "SECRET"}, []string{"DATABASE_URL", "DEBUG"}},
		"a class with a prefix": {pytest.Name, "class Settings(BaseSettings):\n    model_config = SettingsConfigDict(env_prefix='my_app_')\n    debug: bool\n",
			[]string{"MY_APP_DEBUG", "OTHER_DEBUG"}, []string{"MY_APP_DEBUG"}},
		"nested settings": {pytest.Name, "class Settings(BaseSettings):\n    model_config = {'env_nested_delimiter': '__', 'env_prefix': 'app_'}\n    db: Database\n",
			[]string{"APP_DB__URL", "DB__URL", "APP_CACHE__URL"}, []string{"APP_DB__URL", "DB__URL"}},
		"a struct of Go": {gotest.Name, "type Config struct { DatabaseURL string; Port int }\nenvconfig.Process(\"shop\", &c)\n",
			[]string{"SHOP_DATABASE_URL", "SHOP_PORT", "SHOP_HOST"}, []string{"SHOP_DATABASE_URL", "SHOP_PORT"}},
		"a schema": {vitest.Name, "const env = z.object({ DATABASE_URL: z.string(), port: z.number() }).parse(process.env)\n",
			[]string{"DATABASE_URL", "PORT"}, []string{"DATABASE_URL"}},
		"none": {pytest.Name, "class Settings:\n    debug = False\n", []string{"DEBUG"}, nil},
	} {
		marked := regexp.MustCompile("(?m)" + settingsMark(c.framework)).MatchString(c.text)
		if marked != (c.want != nil) {
			t.Errorf("%s: told to have settings: %v", name, marked)
		}
		if got := asFields(c.text, c.names, foldOf(c.framework)); marked && !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestTheWholeEnvironmentOfNodeIsTold(t *testing.T) {
	t.Parallel()
	re := regexp.MustCompile("(?m)" + settingsMark(vitest.Name))
	for text, want := range map[string]bool{
		"parse(process.env)": true, "{...process.env, A: 1}": true, "const env = process.env": true, "process.env || {}": true, "cleanEnv(import.meta.env, {": true,
		"process.env.A": false, "process.env['A']": false, "process.environment": false,
	} {
		if re.MatchString(text) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}
