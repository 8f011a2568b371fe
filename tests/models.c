/* SPDX-License-Identifier: MIT */
/* Tests ropes of models' configs: facts of public models, keys that cannot be represented, and the config of a
   problem. */
#include "cli/model.h"
#include "common/field.h"
#include "common/shapes.h"
#include "inspect/models/model.h"
#include "tests/families.h"
#include "tests/gguf.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- facts of public models --------------------------------------------------------------------- */

static char *scaling_text(const posenc_scaling *scaling, int64_t dim) {
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) abort();
  scaling_write(scaling, dim, stream);
  fclose(stream);
  return text;
}

static void check_family(const family *f) {
  fault why = {""};
  model_rope rope = {0};
  model *m = open_config(f->config, &why);
  const bool is_read = m && model_rope_of(m, f->layer, NULL, NULL, &rope, &why);
  if (!ok(is_read, "%s", f->name)) printf("# %s\n", why.text);
  if (is_read) {
    const posenc_scaling scaling = model_scaling(&rope, (double)f->length);
    char *text = scaling_text(&scaling, rope.dim);
    ok(rope.base == f->base && rope.dim == f->dim && rope.head == f->head && rope.positions == f->positions &&
           rope.pairs == f->pairs && rope.has_pairs && rope.start + (f->head == 192 ? 64 : rope.dim) <= rope.head,
       "%s: base %g, %d of %d columns, %d positions", f->name, rope.base, (int)rope.dim, (int)rope.head,
       (int)rope.positions);
    ok(strncmp(text, f->scaling, strlen(f->scaling)) == 0 && fabs(scaling.attention - f->attention) <= 0.0,
       "%s: scaling %.80s", f->name, text);
    free(text);
  }
  model_close(m);
}

/* ---- what list --config says of them ------------------------------------------------------------------- */

/* Returns what `posenc list --config` prints as JSON. */
static json_t *explanation(const char *name, model *m, const char *layer, int64_t length) {
  options given = options_defaults();
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) abort();
  given.model = m;
  given.config = name;
  given.layer_type = layer;
  given.context = length;
  given.format = "json";
  explain_model(&given, out);
  fclose(out);
  json_t *all = json_loads(text, 0, NULL);
  free(text);
  if (!all) abort();
  return all;
}

/* Returns the factor that a scaling divides frequency w by. Formulas are those of transformers, in doubles; numbers
   those of the explanation. */
static double divisor_of(const json_t *scaling, const family *f, int64_t i, double w) {
  const char *kind = field_string(scaling, "kind");
  const double factor = field_number(scaling, "factor"), original = (double)field_integer(scaling, "original"),
               low = field_number(scaling, "low"), high = field_number(scaling, "high"), dim = (double)f->dim,
               full = 2.0 * acos(-1.0);
  if (strcmp(kind, "linear") == 0) return factor;
  if (strcmp(kind, "longrope") == 0) {
    const json_t *own = json_array_get(json_object_get(scaling, "factors"), (size_t)i);
    return json_is_number(own) ? json_number_value(own) : INFINITY;
  }
  if (strcmp(kind, "dynamic") == 0) {
    const double length = fmax(field_number(scaling, "length"), original),
                 stretch = factor * length / original - (factor - 1.0);
    return pow(stretch, dim / (dim - 2.0) * 2.0 * (double)i / dim);
  }
  if (strcmp(kind, "llama3") == 0) {
    const double turns = original * w / full, smooth = (turns - low) / (high - low);
    if (turns > high || !(turns >= low)) return turns > high ? 1.0 : factor;
    return high > low ? 1.0 / (smooth + (1.0 - smooth) / factor) : factor;
  }
  if (strcmp(kind, "yarn") == 0) {
    double from = dim * log(original / (high * full)) / (2.0 * log(f->base)),
           to = dim * log(original / (low * full)) / (2.0 * log(f->base));
    if (json_is_true(json_object_get(scaling, "truncate"))) from = floor(from), to = ceil(to);
    from = fmax(from, 0.0), to = fmin(to, dim - 1.0);
    const double share = fmin(fmax(((double)i - from) / (from == to ? 0.001 : to - from), 0.0), 1.0);
    return 1.0 / (1.0 - share + share / factor);
  }
  return *kind ? NAN : 1.0;
}

static double attention_told(const json_t *scaling, const family *f) {
  const char *kind = field_string(scaling, "kind");
  const double factor = field_number(scaling, "factor"), original = (double)field_integer(scaling, "original");
  if (f->attention > 0.0) return f->attention;
  if (strcmp(kind, "yarn") == 0) return factor > 1.0 ? 0.1 * log(factor) + 1.0 : 1.0;
  return strcmp(kind, "longrope") == 0 && factor > 1.0 ? sqrt(1.0 + log(factor) / log(original)) : 1.0;
}

static void check_explained(const family *f) {
  fault why = {""};
  model *m = open_config(f->config, &why);
  if (!m) return;
  json_t *all = explanation(f->name, m, f->layer, f->length);
  const json_t *rope = json_array_get(json_object_get(all, "ropes"), 0), *scaling = json_object_get(rope, "scaling"),
               *frequencies = json_object_get(rope, "inv_freq");
  const double attention = attention_told(scaling, f);
  int64_t wrong = f->dim / 2 - (int64_t)json_array_size(frequencies);
  for (int64_t i = 0; i < f->dim / 2; i++) {
    const double w = pow(f->base, -2.0 * (double)i / (double)f->dim), right = w / divisor_of(scaling, f, i, w),
                 told = json_number_value(json_array_get(frequencies, (size_t)i));
    wrong += !(fabs(told - right) <= 1e-11 * right);
  }
  ok(field_number(rope, "base") == f->base && field_integer(rope, "dim") == f->dim &&
         field_integer(rope, "head") == f->head && field_integer(rope, "positions") == f->positions &&
         strcmp(field_string(rope, "pairs"), layout_name(f->pairs)) == 0 &&
         strncmp(field_string(rope, "option"), f->scaling, strlen(f->scaling)) == 0 &&
         fabs(field_number(rope, "attention") - attention) <= 1e-12 && wrong == 0,
     "list --config %s: %.60s, attention %g, %d of inv_freq differ", f->name, field_string(rope, "option"),
     field_number(rope, "attention"), (int)wrong);
  json_decref(all);
  model_close(m);
}

/* Writes "TYPE: LAYERS; " for each rope, "WHY: LAYERS; " for layers without one, and all notes. */
static void write_layers(const json_t *all, FILE *out) {
  size_t n, k;
  json_t *one, *number;
  for (int of = 0; of < 2; of++) json_array_foreach(json_object_get(all, of ? "without_rope" : "ropes"), n, one) {
      fprintf(out, "%s:", field_string(one, of ? "why" : "layer_type"));
      json_array_foreach(json_object_get(one, "layers"), k, number)
          fprintf(out, " %d", (int)json_integer_value(number));
      fputs("; ", out);
    }
  json_array_foreach(json_object_get(all, "ropes"), n, one) json_array_foreach(json_object_get(one, "notes"), k, number)
      fprintf(out, "%s; ", json_string_value(number));
}

static void check_explained_layers(void) {
  static const struct {
    const char *config, *told;
  } cases[] = {
      {"{'model_type':'llama','head_dim':128,'num_hidden_layers':2,'rope_scaling':null}",
       ": 0 1; the base is not in it; 10000 is taken; "},
      {"{'model_type':'smollm3','hidden_size':2048,'num_attention_heads':16,'num_hidden_layers':8,'rope_theta':5e6}",
       ": 0 1 2 4 5 6; no_rope_layer_interval 4: 3 7; "},
      {"{'model_type':'olmo3','hidden_size':4096,'num_attention_heads':32,'num_hidden_layers':8,'rope_theta':500000,"
       "'max_position_embeddings':65536,'rope_scaling':{'rope_type':'yarn','factor':8.0,'attention_factor':1.2,"
       "'original_max_position_embeddings':8192}}",
       "full_attention: 3 7; sliding_attention: 0 1 2 4 5 6; "},
      {"{'model_type':'cohere2','head_dim':128,'num_hidden_layers':8,'rope_theta':50000,'sliding_window':4096}",
       ": 0 1 2 4 5 6; cohere2's layers of full_attention have none: 3 7; "},
      {"{'model_type':'modernbert','hidden_size':768,'num_attention_heads':12,'num_hidden_layers':7,"
       "'global_rope_theta':160000.0,'local_rope_theta':10000.0,'global_attn_every_n_layers':3}",
       "full_attention: 0 3 6; sliding_attention: 1 2 4 5; "},
  };
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    fault why = {""};
    model *m = open_config(cases[n].config, &why);
    json_t *all = m ? explanation("c.json", m, NULL, 0) : NULL;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    write_layers(all, out);
    fclose(out);
    if (!ok(strncmp(text, cases[n].told, strlen(cases[n].told)) == 0, "list --config: layers: %.50s", cases[n].config))
      printf("# %s\n", text);
    free(text);
    json_decref(all);
    model_close(m);
  }
}

/* ---- refusals and messages ----------------------------------------------------------------------- */

#define HEAD "'model_type':'x','head_dim':64,'max_position_embeddings':4096,"

static const struct {
  const char *config, *layer, *words;
} refused[] = {
    {"[1]", NULL, "neither a config.json nor a GGUF file"},
    {"{'a':1,}", NULL, "line 1: "},
    {"{'a':1,'a':2}", NULL, "line 1: duplicate"},
    {"{'hidden_size':768,'num_attention_heads':12,'model_type':'bert'}", NULL, "none of its keys is about rope"},
    {"{" HEAD "'rope_theta':'large'}", NULL, "rope_theta \"large\": no number"},
    {"{" HEAD "'rope_theta':9007199254740993}", NULL, "rope_theta 9007199254740993: an integer that is no double"},
    {"{" HEAD "'rope_theta':-1}", NULL, "its rope is refused: "},
    {"{'head_dim':64.5,'rope_theta':1e4}", NULL, "head_dim 64.5: no whole number"},
    {"{'head_dim':0,'rope_theta':1e4}", NULL, "head_dim 0: no number of columns"},
    {"{'head_dim':66,'rope_theta':1e4,'partial_rotary_factor':0.5}", NULL, "33 columns are turned, which is odd"},
    {"{" HEAD "'rope_theta':1e4,'partial_rotary_factor':1.5}", NULL, "partial_rotary_factor 1.5: no share"},
    {"{" HEAD "'rope_theta':1e4,'rope_scaling':4}", NULL, "rope_scaling 4: no object"},
    {"{" HEAD "'rope_theta':1e4,'rope_scaling':{'factor':4}}", NULL, "rope_type is missing"},
    {"{" HEAD "'rope_theta':1e4,'rope_scaling':{'type':'linear'}}", NULL, "factor is missing"},
    {"{" HEAD "'rope_theta':1e4,'rope_scaling':{'type':'warped'}}", NULL,
     "rope_scaling.type warped: that scaling is not known"},
    {"{'text_config':{'head_dim':16,'rope_parameters':{'full_attention':{'rope_theta':1e6,'rope_type':'warped'},"
     "'sliding_attention':{'rope_theta':1e4,'rope_type':'default'}}}}",
     "full_attention", "rope_parameters.full_attention.rope_type warped: that scaling is not known"},
    {"{'rope_parameters':{'rope_theta':1e6,'rope_type':'proportional'}}", NULL, "head_dim is missing"},
    {"{" HEAD "'rope_theta':[5e6,1e4,'x']}", "2", "rope_theta \"x\": no number"},
    {"{" HEAD "'rope_theta':[5e6,1e4,1e4]}", NULL, "layers have several ropes, --layer-type chooses: 0, 1"},
    {"{" HEAD "'rope_theta':[5e6,1e4,1e4]}", "3", "no such layer; it has 3, from 0 on"},
    {"{" HEAD "'rope_theta':[5e6,1e4],'num_hidden_layers':3}", "2",
     "rope_theta [5000000.0, 10000.0]: it has no element for layer 2"},
    {"{" HEAD "'rope_theta':1e4,'layer_rope_theta':[1e4,0]}", "1", "layers of 1 have no rope: layer_rope_theta 0"},
    {"{" HEAD "'rope_theta':1e4,'layer_rope_theta':[0,0]}", NULL, "no layer has a rope: layer_rope_theta 0"},
    {"{" HEAD "'rope_theta':1e4,'no_rope_layers':[1,0]}", "1", "layers of 1 have no rope: no_rope_layers 0"},
    {"{" HEAD "'rope_theta':1e4,'no_rope_layer_interval':2,'num_hidden_layers':4}", "3",
     "layers of 3 have no rope: no_rope_layer_interval 2"},
    {"{'model_type':'cohere2','head_dim':8,'rope_theta':5e4,'sliding_window':4096}", "full_attention",
     "layers of full_attention have no rope: cohere2's layers of full_attention have none"},
    {"{" HEAD "'rope_theta':1e6,'layer_types':['conv','full_attention']}", "0",
     "layers of 0 have no rope: layer_types \"conv\""},
    {"{" HEAD "'rope_theta':1e6,'rope_local_base_freq':1e4}", "2", "it does not say which layers are of which type"},
    {"{" HEAD "'rope_parameters':{'rope_theta':1e4,'rope_type':'default','warp':3}}", NULL,
     "rope_parameters.warp 3: what it means is not known"},
    {"{" HEAD "'rope_scaling':{'type':'llama3','factor':8,'low_freq_factor':1,'high_freq_factor':4}}", NULL,
     "original_max_position_embeddings is missing"},
    {"{" HEAD "'rope_scaling':{'type':'longrope','factor':8,'short_factor':[1,2],'long_factor':[1,2]}}", NULL,
     "rope_scaling.short_factor: 2 factors, and 32 pairs are turned"},
    {"{" HEAD "'rope_scaling':{'type':'dynamic','alpha':1.1}}", NULL, "rope_scaling.alpha 1.1: "},
    {"{" HEAD "'rope_scaling':{'type':'yarn','factor':0.5}}", NULL, "its rope is refused: "},
    {"{" HEAD "'rope_scaling':{'type':'yarn','factor':4,'truncate':1}}", NULL, "truncate 1: not true or false"},
    {"{" HEAD "'rope_theta':1e4,'rope_scaling':{'type':'mrope','mrope_section':[0.5,16,16]}}", NULL,
     "mrope_section 0.5: not a number of pairs"},
    {"{" HEAD "'rope_theta':1e4,'rope_scaling':{'type':'mrope','mrope_section':[-3,8,12,12]}}", NULL,
     "mrope_section -3: not a number of pairs"},
    {"{" HEAD "'rope_theta':1e4,'rope_scaling':{'type':'mrope','mrope_section':[9e18,9e18,32]}}", NULL,
     "mrope_section 9e+18: not a number of pairs"},
    {"{" HEAD "'position_embedding_type':'nope','rope_theta':1e4}", NULL, "\"nope\": the model has no rope"},
    {"{" HEAD "'mla_use_nope':true,'rope_theta':1e4}", NULL, "mla_use_nope true: the model has no rope"},
    {"{" HEAD "'alibi':true,'rope_theta':1e4}", NULL, "alibi true: the model has no rope"},
    {"{" HEAD "'rotary_emb_base':1e4,'rotary_emb_scale_base':512}", NULL, "rotary_emb_scale_base 512: xPos"},
    {"{" HEAD "'rope_theta':1e6,'rope_local_base_freq':1e4}", NULL,
     "layers have several ropes, --layer-type chooses: full_attention, sliding_attention"},
    {"{" HEAD "'rope_theta':1e6,'rope_local_base_freq':1e4}", "middle", "no such layers; it has full_attention, "},
    {"{" HEAD "'rope_theta':1e6}", "full_attention", "all layers have one rope"},
};

static void check_refused(size_t n) {
  fault why = {""};
  model_rope rope;
  model *m = open_config(refused[n].config, &why);
  const bool is_read = m && model_rope_of(m, refused[n].layer, NULL, NULL, &rope, &why);
  if (!ok(!is_read && strstr(why.text, refused[n].words), "refused: %s", refused[n].words))
    printf("# %s\n", is_read ? "accepted" : why.text);
  model_close(m);
}

static const struct {
  const char *config, *words;
} told[] = {
    {"{" HEAD "'rope_scaling':null}", "the base is not in it; 10000 is taken"},
    {"{'model_type':'gpt_oss','rope_scaling':null}", "head_dim is not in it; gpt_oss's default, 64, is taken"},
    {"{" HEAD "'rope_theta':1e4,'rope_depth':[1,0]}", "rope_depth [1, 0] is not looked at"},
    {"{" HEAD "'rope_theta':1e4,'no_rope_layers':[1,0]}", NULL},
    {"{" HEAD "'rope_theta':1e4,'rope_scaling':{'type':'linear','factor':2,'beta_fast':32}}",
     "rope_scaling.beta_fast 32 has no effect there"},
    {"{" HEAD "'rope_theta':1e4,'rope_scaling':{'type':'default','mrope_section':[8,12,12]}}", NULL},
    {"{" HEAD "'rope_theta':1e4,'rope_scaling':{'type':'yarn','factor':4,'mscale':0.7}}",
     "rope_scaling.mscale has no effect, as mscale_all_dim is missing or 0"},
    {"{" HEAD "'rope_theta':1e4,'rope_scaling':{'type':'yarn','factor':4,'finetuned':true}}", NULL},
    {"{" HEAD "'rope_theta':1e4,'layer_norm_eps':1e-5,'model_name':'europe'}", NULL},
};

static void note_words(const char *text, void *argument) {
  char *all = argument;
  snprintf(all + strlen(all), 2000 - strlen(all), "%s\n", text);
}

static void check_told(size_t n) {
  char all[2000] = "";
  fault why = {""};
  model_rope rope;
  model *m = open_config(told[n].config, &why);
  const bool is_read = m && model_rope_of(m, NULL, note_words, all, &rope, &why);
  const bool as_wanted = is_read && (told[n].words ? strstr(all, told[n].words) != NULL : !*all);
  if (!ok(as_wanted, "told: %s", told[n].words ? told[n].words : "nothing")) printf("# %s%s\n", all, why.text);
  model_close(m);
}

static void check_sections(void) {
  static const char config[] =
      "{" HEAD "'rope_theta':1e6,'rope_scaling':{'type':'mrope','mrope_section':[24,20,20],'mrope_interleaved':true}}";
  fault why;
  model_rope rope = {0};
  model *m = open_config(config, &why);
  ok(m && model_rope_of(m, NULL, NULL, NULL, &rope, &why) && rope.section_count == 3 && rope.sections[0] == 24 &&
         rope.sections[1] == 20 && rope.sections[2] == 20 && rope.is_cyclic,
     "sections of axes that take turns");
  model_close(m);
}

/* Tests which layers are of which kind, and which have no rope. */
static void check_layers(void) {
  static const struct {
    const char *keys, *kinds; /* the kind of each layer, "-" for one without rope */
  } cases[] = {
      {"'layer_types':['full_attention','sliding_attention'],'rope_local_base_freq':1e4",
       "full_attention sliding_attention"},
      {"'model_type':'gemma3_text','num_hidden_layers':7,'sliding_window_pattern':3",
       "sliding_attention sliding_attention full_attention sliding_attention sliding_attention full_attention "
       "sliding_attention"},
      {"'model_type':'modernbert','num_hidden_layers':3,'global_attn_every_n_layers':2",
       "full_attention sliding_attention full_attention"},
      {"'model_type':'exaone4','sliding_window':9,'num_hidden_layers':5,'sliding_window_pattern':'LLG'",
       "sliding_attention sliding_attention - sliding_attention sliding_attention"},
      {"'model_type':'exaone4','sliding_window':null,'num_hidden_layers':2", "0 0"},
      {"'model_type':'deepseek_v4','compress_ratios':[0,4,128,0]", "main compress compress main"},
      {"'model_type':'deepseek_v4','layer_types':['sliding_attention','compressed_sparse_attention'],'rope_parameters':"
       "{"
       "'main':{'rope_theta':1e4},'compress':{'rope_theta':16e4}}",
       "main compress"},
      {"'layer_rope_theta':[1e4,0,1e6,1e4]", "0 - 2 0"},
      {"'use_rope_layers':[true,false]", "0 -"},
      {"'no_rope_layers':[],'no_rope_layer_interval':2,'num_hidden_layers':4", "0 - 0 -"},
      {"'layer_types':['full_attention','chunked'],'rope_parameters':{'full_attention':{'rope_theta':2.0},'chunked':"
       "null}",
       "full_attention -"},
      {"'num_hidden_layers':3,'per_layer_config':{'1':{'head_dim':16}}", "0 1 0"},
  };
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    char config[600], kinds[200] = "";
    fault why = {""};
    snprintf(config, sizeof config, "{'head_dim':8,'rope_theta':3,%s}", cases[n].keys);
    model *m = open_config(config, &why);
    for (int64_t layer = 0; m && layer < model_number_of_layers(m); layer++) {
      const char *none, *kind = model_layer_kind(m, layer, &none);
      snprintf(kinds + strlen(kinds), sizeof kinds - strlen(kinds), "%s%s", layer ? " " : "", none ? "-" : kind);
    }
    if (!ok(strcmp(kinds, cases[n].kinds) == 0, "layers: %s", cases[n].keys)) printf("# %s %s\n", kinds, why.text);
    model_close(m);
  }
}

#define SAM3 "'model_type':'sam3_vit_model','image_size':1008,'patch_size':14,'window_size':24"

static void check_grids(void) {
  static const struct {
    const char *keys, *grid; /* null: no axes */
    const char *layer;
  } cases[] = {
      {"'model_type':'gemma4_vision','patch_size':16,'rope_parameters':{'rope_type':'default','rope_theta':100.0}",
       "h=H,w=W,columns=wh,grouped=yes", NULL},
      {SAM3 ",'num_hidden_layers':32,'global_attn_indexes':[7,15,23,31]", "h=72:0:24/72,w=72:0:24/72,columns=wh", "7"},
      {SAM3 ",'num_hidden_layers':32,'global_attn_indexes':[7,15,23,31]", "h=24,w=24,columns=wh", "8"},
      {SAM3 ",'num_hidden_layers':12", "h=72:0:24/72,w=72:0:24/72,columns=wh", "7"},
      {SAM3 ",'num_hidden_layers':12", "h=24,w=24,columns=wh", "sliding_attention"},
      {"'model_type':'sam3_vit_model','patch_size':14", "h=N,w=N,columns=wh", "sliding_attention"},
      {"'model_type':'sam2_video','memory_attention_rope_feat_sizes':[64,48]", "h=48,w=64,columns=wh", NULL},
      {"'model_type':'sam2_hiera','patch_size':7,'window_size':8", "", NULL},
      {"'model_type':'pixtral','image_size':1024,'patch_size':16", "h=64,w=64,frequencies=dealt", NULL},
      {"'model_type':'qwen3_vl_vision','patch_size':16", "h=H,w=W", NULL},
      {"'model_type':'paddleocr_vl_vision','patch_size':14,'image_size':384", "h=27,w=27", NULL},
      {"'model_type':'minimax_m3_vl_vision','patch_size':14,'image_size':2016", "t=1,h=144,w=144", NULL},
      {"'model_type':'edgetam_video','memory_attention_rope_feat_sizes':[64,48],'memory_attention_rope_k_sizes':[16,"
       "16]",
       "h=48,w=64,columns=wh", NULL},
      {"'model_type':'dinov3_vit','image_size':[224,112],'patch_size':16", "h=14:-13:2/14,w=7:-6:2/7", NULL},
      {"'model_type':'kimi_k25_vision','patch_size':14", "h=H,w=W,columns=wh,order=cyclic", NULL},
      {"'model_type':'tower','patch_size':14", "", NULL},
      {"'model_type':'tower','rope_parameters':{'rope_type':'axial'}", "", NULL},
      {"'model_type':'fuyu','patch_size':30,'vocab_size':262144", NULL, NULL},
  };
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    char config[300];
    fault why = {""};
    model_rope rope = {0};
    snprintf(config, sizeof config, "{'head_dim':64,'rope_theta':1e4,%s}", cases[n].keys);
    model *m = open_config(config, &why);
    const bool is_read = m && model_rope_of(m, cases[n].layer, NULL, NULL, &rope, &why);
    ok(is_read && rope.has_grid == (cases[n].grid != NULL) &&
           strcmp(rope.grid, cases[n].grid ? cases[n].grid : "") == 0,
       "axes: %s: %s%s", cases[n].keys, rope.grid, why.text);
    model_close(m);
  }
}

/* ---- the length of the sequence ------------------------------------------------------------------ */

static void check_lengths(void) {
  static const char dynamic[] = "{" HEAD "'rope_theta':1e4,'rope_scaling':{'type':'dynamic','factor':2}}";
  fault why;
  model_rope rope = {0};
  model *m = open_config(dynamic, &why);
  ok(m && model_rope_of(m, NULL, NULL, NULL, &rope, &why), "dynamic is read");
  const posenc_scaling s = model_scaling(&rope, 8192);
  ok(s.kind == POSENC_SCALING_DYNAMIC && s.length == 8192 && s.original == 4096 && s.factor == 2.0,
     "dynamic of a sequence of 8192 positions");
  model_close(m);
}

/* Tests mscale and mscale_all_dim that differ, and an attention factor beside them. */
static void check_attention(void) {
  static const struct {
    const char *keys;
    double attention;
  } cases[] = {{"'mscale':1.0,'mscale_all_dim':0.5", (0.1 * 3.6888794541139363 + 1) / (0.05 * 3.6888794541139363 + 1)},
               {"'mscale':1.0,'mscale_all_dim':0.5,'attention_factor':1.25", 1.25},
               {"'mscale':1.0,'mscale_all_dim':0", 0.0},
               {"'beta_fast':0", 0.0}};
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    char config[400];
    fault why = {""};
    model_rope rope = {0};
    snprintf(config, sizeof config, "{" HEAD "'rope_scaling':{'type':'yarn','factor':40,%s}}", cases[n].keys);
    model *m = open_config(config, &why);
    ok(m && model_rope_of(m, NULL, NULL, NULL, &rope, &why) &&
           fabs(rope.scaling.attention - cases[n].attention) <= 1e-15 && rope.scaling.high == 32.0,
       "yarn with %s: attention %.17g", cases[n].keys, rope.scaling.attention);
    model_close(m);
  }
}

/* ---- GGUF ---------------------------------------------------------------------------------------- */

/* Tests keys that convert_hf_to_gguf.py writes for these models, in small files. */
static void check_gguf(void) {
  gguf_file f = gguf_begin("llama");
  fault why = {""};
  model_rope rope = {0};
  float factors[32];
  for (int i = 0; i < 32; i++) factors[i] = i < 22 ? 1.5f + (float)i : 32.0f;
  for (int i = 0; i < 15; i++) factors[i] = 1.0f;
  gguf_add_u32(&f, "llama.context_length", 131072);
  gguf_add_u32(&f, "llama.embedding_length", 2048);
  gguf_add_u32(&f, "llama.attention.head_count", 32);
  gguf_add_u32(&f, "llama.rope.dimension_count", 64);
  gguf_add_f32(&f, "llama.rope.freq_base", 500000.0f);
  gguf_add_strings(&f, "tokenizer.ggml.tokens", 3);
  gguf_add_tensor(&f, "token_embd.weight", NULL, 96);
  gguf_add_tensor(&f, "rope_freqs.weight", factors, 32);
  gguf_end(&f);
  model *m = model_open_memory(f.bytes, f.size, &why);
  if (!ok(m && model_rope_of(m, NULL, NULL, NULL, &rope, &why), "a GGUF file of Llama 3.2 1B"))
    printf("# %s\n", why.text);
  ok(rope.base == 500000.0 && rope.dim == 64 && rope.head == 64 && rope.positions == 131072 &&
         rope.pairs == POSENC_INTERLEAVED,
     "its base, columns and pairs, which are neighbours in llama.cpp");
  ok(rope.scaling.kind == POSENC_SCALING_LONGROPE && rope.scaling.factors && rope.scaling.factors[14] == 1.0 &&
         rope.scaling.factors[16] == 17.5 && rope.scaling.factors[31] == 32.0 && rope.scaling.attention == 1.0,
     "its factors of frequencies");
  model_close(m);
  gguf_free(&f);

  f = gguf_begin("deepseek2");
  gguf_add_u32(&f, "deepseek2.context_length", 163840);
  gguf_add_u32(&f, "deepseek2.attention.key_length", 192);
  gguf_add_u32(&f, "deepseek2.rope.dimension_count", 64);
  gguf_add_f32(&f, "deepseek2.rope.freq_base", 10000.0f);
  gguf_add_text(&f, "deepseek2.rope.scaling.type", "yarn");
  gguf_add_f32(&f, "deepseek2.rope.scaling.factor", 40.0f);
  gguf_add_u32(&f, "deepseek2.rope.scaling.original_context_length", 4096);
  gguf_add_f32(&f, "deepseek2.rope.scaling.yarn_log_multiplier", 0.1f);
  gguf_end(&f);
  m = model_open_memory(f.bytes, f.size, &why);
  ok(m && model_rope_of(m, NULL, NULL, NULL, &rope, &why) && rope.dim == 64 && rope.head == 192 &&
         rope.scaling.kind == POSENC_SCALING_YARN && rope.scaling.factor == 40.0 && rope.scaling.original == 4096 &&
         rope.scaling.attention == 1.0,
     "a GGUF file of DeepSeek V3: yarn without an attention factor");
  model_close(m);
  gguf_free(&f);
}

/* Tests factors of some layers: rope_freqs.weight is for those of full attention, whose last pairs do not turn. */
static void check_gguf_layers(void) {
  gguf_file f = gguf_begin("gemma4");
  fault why = {""};
  model_rope rope = {0}, other = {0};
  float factors[16];
  for (int i = 0; i < 16; i++) factors[i] = i < 4 ? 1.0f : 1e30f;
  gguf_add_u32(&f, "gemma4.context_length", 131072);
  gguf_add_u32(&f, "gemma4.attention.key_length", 32);
  gguf_add_u32(&f, "gemma4.attention.key_length_swa", 16);
  gguf_add_u32(&f, "gemma4.rope.dimension_count", 32);
  gguf_add_u32(&f, "gemma4.rope.dimension_count_swa", 16);
  gguf_add_f32(&f, "gemma4.rope.freq_base", 1e6f);
  gguf_add_f32(&f, "gemma4.rope.freq_base_swa", 1e4f);
  gguf_add_tensor(&f, "rope_freqs.weight", factors, 16);
  gguf_end(&f);
  model *m = model_open_memory(f.bytes, f.size, &why);
  ok(m && model_rope_of(m, "full_attention", NULL, NULL, &rope, &why) && rope.base == 1e6 && rope.dim == 32 &&
         rope.scaling.factors && rope.scaling.factors[3] == 1.0 && isinf(rope.scaling.factors[4]),
     "a GGUF file of Gemma 4: pairs of full layers that do not turn");
  ok(m && model_rope_of(m, "sliding_attention", NULL, NULL, &other, &why) && other.base == 1e4 && other.dim == 16 &&
         other.scaling.kind == POSENC_SCALING_NONE,
     "its sliding layers are plain");
  model_close(m);
  gguf_free(&f);

  f = gguf_begin("gemma3");
  gguf_add_u32(&f, "gemma3.block_count", 12);
  gguf_add_u32(&f, "gemma3.attention.key_length", 256);
  gguf_add_u32(&f, "gemma3.attention.sliding_window", 1024);
  gguf_add_f32(&f, "gemma3.rope.freq_base", 1e6f);
  gguf_add_text(&f, "gemma3.rope.scaling.type", "linear");
  gguf_add_f32(&f, "gemma3.rope.scaling.factor", 8.0f);
  gguf_end(&f);
  m = model_open_memory(f.bytes, f.size, &why);
  ok(m && model_rope_of(m, "5", NULL, NULL, &rope, &why) && rope.base == 1e6 && rope.scaling.factor == 8.0 &&
         model_rope_of(m, "4", NULL, NULL, &other, &why) && other.base == 1e4 &&
         other.scaling.kind == POSENC_SCALING_NONE,
     "a GGUF file of Gemma 3: every sixth layer is full, the others have llama.cpp's base and no scaling");
  model_close(m);
  gguf_free(&f);
}

/* Tests factors that depend on the length of the sequence. */
static void check_gguf_longrope(void) {
  gguf_file f = gguf_begin("phi3");
  fault why = {""};
  model_rope rope = {0};
  float factors[32];
  for (int i = 0; i < 32; i++) factors[i] = 1.0f + (float)(i / 8);
  gguf_add_u32(&f, "phi3.context_length", 131072);
  gguf_add_u32(&f, "phi3.rope.dimension_count", 64);
  gguf_add_u32(&f, "phi3.rope.scaling.original_context_length", 4096);
  gguf_add_f32(&f, "phi3.rope.scaling.attn_factor", 1.25f);
  gguf_add_tensor(&f, "rope_factors_long.weight", factors, 32);
  factors[3] = 3.0f;
  gguf_add_tensor(&f, "rope_factors_short.weight", factors, 32);
  gguf_end(&f);
  model *m = model_open_memory(f.bytes, f.size, &why);
  ok(m && model_rope_of(m, NULL, NULL, NULL, &rope, &why) && rope.base == 10000.0 && rope.pairs == POSENC_SPLIT &&
         model_scaling(&rope, 4096).factors[3] == 3.0 && model_scaling(&rope, 4097).factors[3] == 1.0 &&
         rope.scaling.attention == 1.25 && rope.longer.attention == 1.25,
     "a GGUF file of Phi 3: factors by length, halves");
  model_close(m);
  gguf_free(&f);
}

static void check_bad_gguf(void) {
  fault why = {""};
  gguf_file f = gguf_begin("llama");
  gguf_add_f32(&f, "llama.rope.freq_base", NAN);
  gguf_end(&f);
  ok(!model_open_memory(f.bytes, f.size, &why) && strstr(why.text, "llama.rope.freq_base: a number is not finite"),
     "GGUF: %s", why.text);
  gguf_free(&f);
  f = gguf_begin("llama");
  gguf_add_u32(&f, "llama.rope.dimension_count", 64);
  gguf_add_u32(&f, "llama.rope.dimension_count", 64);
  gguf_end(&f);
  ok(!model_open_memory(f.bytes, f.size, &why) && strstr(why.text, "it is there twice"), "GGUF: %s", why.text);
  for (size_t size = 4; size < f.size; size++)
    if (model_open_memory(f.bytes, size, &why) || !strstr(why.text, "header")) {
      ok(false, "GGUF cut at %zu: %s", size, why.text);
      break;
    }
  f.bytes[4] = 1;
  ok(!model_open_memory(f.bytes, f.size, &why) && strstr(why.text, "GGUF version 1"), "GGUF: %s", why.text);
  gguf_free(&f);
}

/* ---- configs of problems ------------------------------------------------------------------------- */

/* Tests that the config of a problem gives the problem. */
static void check_fragment(const family *f) {
  fault why = {""};
  model_rope rope, again;
  model *m = open_config(f->config, &why);
  if (!m || !model_rope_of(m, f->layer, NULL, NULL, &rope, &why)) return;
  posenc_problem problem = posenc_table(1, rope.dim);
  problem.base = rope.base;
  problem.scaling = model_scaling(&rope, (double)f->length);
  json_t *fragment = model_fragment(&problem, &why);
  if (problem.scaling.kind == POSENC_SCALING_DYNAMIC) {
    ok(!fragment && strstr(why.text, "dynamic"), "no config from dynamic: %s", why.text);
  } else {
    if (fragment) model_fragment_head(fragment, rope.dim, rope.start, rope.head);
    char *text = json_dumps(fragment, 0);
    model *other = text ? model_open_memory(text, strlen(text), &why) : NULL;
    const bool is_read = other && model_rope_of(other, NULL, NULL, NULL, &again, &why);
    const posenc_scaling scaling = model_scaling(&again, (double)f->length);
    char *one = scaling_text(&problem.scaling, rope.dim), *two = is_read ? scaling_text(&scaling, again.dim) : NULL;
    ok(two && again.base == rope.base && again.dim == rope.dim && again.head == rope.head && strcmp(one, two) == 0,
       "%s from its own fragment: %.100s", f->name, text ? text : why.text);
    free(one);
    free(two);
    free(text);
    model_close(other);
  }
  json_decref(fragment);
  model_close(m);
}

static void check_no_fragment(void) {
  fault why = {""};
  posenc_problem problem = posenc_table(8, 64);
  problem.shift = 1.0;
  ok(!model_fragment(&problem, &why) && strstr(why.text, "shift"), "no config with a shift: %s", why.text);
  problem.shift = 0.0;
  problem.scaling.attention = 1.5;
  ok(!model_fragment(&problem, &why) && strstr(why.text, "attention"), "none with an attention factor alone");
}

/* ---- suspects ------------------------------------------------------------------------------------ */

static const suspect *find_suspect(const suspect_list *list, const char *words) {
  for (size_t n = 0; n < list->count; n++)
    if (strstr(list->items[n].text, words)) return &list->items[n];
  return NULL;
}

static void check_suspects(size_t n, const char *const *words) {
  static suspect_list list;
  fault why;
  model_rope rope;
  model *m = open_config(families[n].config, &why);
  if (!m || !model_rope_of(m, families[n].layer, NULL, NULL, &rope, &why)) return;
  posenc_problem asked = posenc_table(families[n].length, rope.dim);
  asked.base = rope.base;
  asked.scaling = model_scaling(&rope, (double)families[n].length);
  list.count = 0;
  model_suspects(m, families[n].layer, &rope, families[n].length, &asked, &list);
  for (; *words; words++) ok(find_suspect(&list, *words), "%s: suspects that %s", families[n].name, *words);
  const suspect *shorter = find_suspect(&list, "those of shorter");
  if (shorter) ok(shorter->problem.scaling.factors[1] == 1.02, "%s: and which factors those are", families[n].name);
  for (size_t k = 0; k < list.count; k++) {
    const char *refusal = posenc_problem_refusal(&list.items[k].problem);
    if (refusal) ok(false, "%s, %s: %s", families[n].name, list.items[k].text, refusal);
  }
  model_close(m);
}

int main(void) {
  for (size_t n = 0; n < sizeof families / sizeof *families; n++) check_family(&families[n]);
  for (size_t n = 0; n < sizeof families / sizeof *families; n++) check_explained(&families[n]);
  check_explained_layers();
  for (size_t n = 0; n < sizeof refused / sizeof *refused; n++) check_refused(n);
  for (size_t n = 0; n < sizeof told / sizeof *told; n++) check_told(n);
  check_layers();
  check_grids();
  check_sections();
  check_lengths();
  check_attention();
  check_gguf();
  check_gguf_layers();
  check_gguf_longrope();
  check_bad_gguf();
  for (size_t n = 0; n < sizeof families / sizeof *families; n++) check_fragment(&families[n]);
  check_no_fragment();
  for (size_t n = 0; n < sizeof families / sizeof *families; n++) {
    static const struct {
      const char *name, *words[4];
    } wanted[] = {
        {"Qwen/Qwen2.5-7B-Instruct, with", {"not rounded to whole numbers", "divided by the factor, 4"}},
        {"google/gemma-3-1b-pt, full", {"layers of sliding_attention"}},
        {"microsoft/Phi-3.5-mini-instruct, long", {"factors are those of shorter sequences than 4097"}},
        {"microsoft/phi-2", {"80 columns are turned, not 32: all of a head", "frequencies are those of all 80"}},
        {"deepseek-ai/DeepSeek-V3", {"0.1 ln factor + 1", "the original length is max_position_embeddings, 163840"}},
        {"openai/gpt-oss", {"the ends of the ramp are rounded to", "all frequencies are divided by the factor, 32"}}};
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
      if (strncmp(families[n].name, wanted[k].name, strlen(wanted[k].name)) == 0) check_suspects(n, wanted[k].words);
  }
  return tap_done();
}
